module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x8xf32>, %arg1: tensor<12xi32>, %arg2: tensor<12xi32>, %arg3: tensor<12x8xf32>) -> (tensor<12x8xf32> {jax.result_info = "result[0]"}, tensor<12x12xf32> {jax.result_info = "result[1]"}, tensor<12x12xf32> {jax.result_info = "result[2]"}, tensor<12x1xf32> {jax.result_info = "result[3]"}, tensor<12xf32> {jax.result_info = "result[4]"}, tensor<12x3xf32> {jax.result_info = "result[5]"}, tensor<16x8xf32> {jax.result_info = "result[6]"}, tensor<16x8xf32> {jax.result_info = "result[7]"}, tensor<12x8xf32> {jax.result_info = "result[8]"}, tensor<12x8xf32> {jax.result_info = "result[9]"}, tensor<12x8xf32> {jax.result_info = "result[10]"}, tensor<12x8xf32> {jax.result_info = "result[11]"}, tensor<12x8xf32> {jax.result_info = "result[12]"}, tensor<12x8xf32> {jax.result_info = "result[13]"}, tensor<12x8xf32> {jax.result_info = "result[14]"}, tensor<12x8xf32> {jax.result_info = "result[15]"}, tensor<12x8xf32> {jax.result_info = "result[16]"}, tensor<12x9xf32> {jax.result_info = "result[17]"}, tensor<12x8xf32> {jax.result_info = "result[18]"}, tensor<12x8xf32> {jax.result_info = "result[19]"}, tensor<12x3xf32> {jax.result_info = "result[20]"}, tensor<24x8xf32> {jax.result_info = "result[21]"}, tensor<12x16xf32> {jax.result_info = "result[22]"}, tensor<12x8xf32> {jax.result_info = "result[23]"}, tensor<8xf32> {jax.result_info = "result[24]"}, tensor<12x8xf32> {jax.result_info = "result[25]"}, tensor<12x8xf32> {jax.result_info = "result[26]"}, tensor<12x8xf32> {jax.result_info = "result[27]"}, tensor<12x8xf32> {jax.result_info = "result[28]"}, tensor<12x4xf32> {jax.result_info = "result[29]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<12xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<12xi1>, tensor<12xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x8xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %8 = stablehlo.compare LT, %arg2, %7, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_2 = stablehlo.constant dense<8> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %10 = stablehlo.add %arg2, %9 : tensor<12xi32>
    %11 = stablehlo.select %8, %10, %arg2 : tensor<12xi1>, tensor<12xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %13 = "stablehlo.gather"(%arg0, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 12, 1>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x12xf32>
    %14 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %15 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<12xi32>) -> tensor<1x12xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %17 = stablehlo.compare LT, %14, %16, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %c_4 = stablehlo.constant dense<12> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %19 = stablehlo.add %14, %18 : tensor<12x1xi32>
    %20 = stablehlo.select %17, %19, %14 : tensor<12x1xi1>, tensor<12x1xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %22 = stablehlo.compare LT, %15, %21, SIGNED : (tensor<1x12xi32>, tensor<1x12xi32>) -> tensor<1x12xi1>
    %c_6 = stablehlo.constant dense<8> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<1x12xi32>
    %24 = stablehlo.add %15, %23 : tensor<1x12xi32>
    %25 = stablehlo.select %22, %24, %15 : tensor<1x12xi1>, tensor<1x12xi32>
    %26 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x12xi32>
    %27 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x12xi32>) -> tensor<12x12xi32>
    %28 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<12x12xi32>) -> tensor<12x12x1xi32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<12x12xi32>) -> tensor<12x12x1xi32>
    %30 = stablehlo.concatenate %28, %29, dim = 2 : (tensor<12x12x1xi32>, tensor<12x12x1xi32>) -> tensor<12x12x2xi32>
    %31 = "stablehlo.gather"(%arg0, %30) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<12x8xf32>, tensor<12x12x2xi32>) -> tensor<12x12xf32>
    %32 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %c_7 = stablehlo.constant dense<8> : tensor<i32>
    %33 = call @remainder(%32, %c_7) : (tensor<12x1xi32>, tensor<i32>) -> tensor<12x1xi32>
    %34 = call @take_along_axis(%arg0, %33) : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x1xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %36 = stablehlo.compare LT, %arg1, %35, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_9 = stablehlo.constant dense<8> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %38 = stablehlo.add %arg1, %37 : tensor<12xi32>
    %39 = stablehlo.select %36, %38, %arg1 : tensor<12xi1>, tensor<12xi32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %41 = "stablehlo.gather"(%arg0, %40) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x1xf32>
    %42 = stablehlo.reshape %41 : (tensor<12x1xf32>) -> tensor<12xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %44 = stablehlo.compare LT, %arg1, %43, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_11 = stablehlo.constant dense<8> : tensor<i32>
    %45 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %46 = stablehlo.add %arg1, %45 : tensor<12xi32>
    %47 = stablehlo.select %44, %46, %arg1 : tensor<12xi1>, tensor<12xi32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %49 = "stablehlo.gather"(%arg0, %48) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %51 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %52 = "stablehlo.scatter"(%50, %51, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<16x8xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %54 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %55 = "stablehlo.scatter"(%53, %54, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<16x8xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %56 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %57 = stablehlo.compare LT, %arg1, %56, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_14 = stablehlo.constant dense<12> : tensor<i32>
    %58 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %59 = stablehlo.add %arg1, %58 : tensor<12xi32>
    %60 = stablehlo.select %57, %59, %arg1 : tensor<12xi1>, tensor<12xi32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %62 = "stablehlo.scatter"(%arg0, %61, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %63 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %64 = stablehlo.compare LT, %arg1, %63, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_16 = stablehlo.constant dense<12> : tensor<i32>
    %65 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %66 = stablehlo.add %arg1, %65 : tensor<12xi32>
    %67 = stablehlo.select %64, %66, %arg1 : tensor<12xi1>, tensor<12xi32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %69 = "stablehlo.scatter"(%arg0, %68, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.multiply %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %70 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %71 = stablehlo.compare LT, %arg1, %70, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_18 = stablehlo.constant dense<12> : tensor<i32>
    %72 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %73 = stablehlo.add %arg1, %72 : tensor<12xi32>
    %74 = stablehlo.select %71, %73, %arg1 : tensor<12xi1>, tensor<12xi32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %76 = "stablehlo.scatter"(%arg0, %75, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.minimum %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %c_19 = stablehlo.constant dense<0> : tensor<i32>
    %77 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %78 = stablehlo.compare LT, %arg1, %77, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_20 = stablehlo.constant dense<12> : tensor<i32>
    %79 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %80 = stablehlo.add %arg1, %79 : tensor<12xi32>
    %81 = stablehlo.select %78, %80, %arg1 : tensor<12xi1>, tensor<12xi32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %83 = "stablehlo.scatter"(%arg0, %82, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %84 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %85 = stablehlo.compare LT, %arg1, %84, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_22 = stablehlo.constant dense<12> : tensor<i32>
    %86 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %87 = stablehlo.add %arg1, %86 : tensor<12xi32>
    %88 = stablehlo.select %85, %87, %arg1 : tensor<12xi1>, tensor<12xi32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %89 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %90 = stablehlo.compare LT, %arg2, %89, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_24 = stablehlo.constant dense<8> : tensor<i32>
    %91 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %92 = stablehlo.add %arg2, %91 : tensor<12xi32>
    %93 = stablehlo.select %90, %92, %arg2 : tensor<12xi1>, tensor<12xi32>
    %94 = stablehlo.broadcast_in_dim %88, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %95 = stablehlo.broadcast_in_dim %93, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %96 = stablehlo.concatenate %94, %95, dim = 1 : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x2xi32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %98 = "stablehlo.scatter"(%arg0, %96, %97) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x2xi32>, tensor<12xf32>) -> tensor<12x8xf32>
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %99 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %100 = stablehlo.compare LT, %arg1, %99, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_27 = stablehlo.constant dense<12> : tensor<i32>
    %101 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %102 = stablehlo.add %arg1, %101 : tensor<12xi32>
    %103 = stablehlo.select %100, %102, %arg1 : tensor<12xi1>, tensor<12xi32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %105 = "stablehlo.scatter"(%arg0, %104, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %c_28 = stablehlo.constant dense<0> : tensor<i32>
    %106 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %107 = stablehlo.compare LT, %arg1, %106, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_29 = stablehlo.constant dense<12> : tensor<i32>
    %108 = stablehlo.broadcast_in_dim %c_29, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %109 = stablehlo.add %arg1, %108 : tensor<12xi32>
    %110 = stablehlo.select %107, %109, %arg1 : tensor<12xi1>, tensor<12xi32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %c_30 = stablehlo.constant dense<11> : tensor<1xi32>
    %c_31 = stablehlo.constant dense<0> : tensor<i32>
    %112 = stablehlo.broadcast_in_dim %c_31, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %113 = stablehlo.compare GE, %111, %112, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %114 = stablehlo.broadcast_in_dim %c_30, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<12x1xi32>
    %116 = stablehlo.compare LE, %111, %115, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %117 = stablehlo.and %113, %116 : tensor<12x1xi1>
    %c_32 = stablehlo.constant dense<true> : tensor<i1>
    %118 = stablehlo.reduce(%117 init: %c_32) applies stablehlo.and across dimensions = [1] : (tensor<12x1xi1>, tensor<i1>) -> tensor<12xi1>
    %119 = "stablehlo.gather"(%arg0, %111) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x8xf32>
    %120 = stablehlo.broadcast_in_dim %118, dims = [0] : (tensor<12xi1>) -> tensor<12x8xi1>
    %cst_33 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %122 = stablehlo.select %120, %119, %121 : tensor<12x8xi1>, tensor<12x8xf32>
    %c_34 = stablehlo.constant dense<0> : tensor<i32>
    %123 = stablehlo.broadcast_in_dim %c_34, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %124 = stablehlo.compare LT, %arg1, %123, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_35 = stablehlo.constant dense<12> : tensor<i32>
    %125 = stablehlo.broadcast_in_dim %c_35, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %126 = stablehlo.add %arg1, %125 : tensor<12xi32>
    %127 = stablehlo.select %124, %126, %arg1 : tensor<12xi1>, tensor<12xi32>
    %128 = stablehlo.broadcast_in_dim %127, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %129 = "stablehlo.gather"(%arg0, %128) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 8>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x8xf32>
    %130 = stablehlo.iota dim = 0 : tensor<3xi32>
    %c_36 = stablehlo.constant dense<3> : tensor<i32>
    %131 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %132 = stablehlo.multiply %131, %130 : tensor<3xi32>
    %c_37 = stablehlo.constant dense<2> : tensor<i32>
    %133 = stablehlo.broadcast_in_dim %c_37, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %134 = stablehlo.add %133, %132 : tensor<3xi32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %137 = "stablehlo.scatter"(%arg0, %135, %136) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<12x8xf32>
    %138 = call @_one_hot(%arg2) : (tensor<12xi32>) -> tensor<12x9xf32>
    %c_39 = stablehlo.constant dense<0> : tensor<i32>
    %139 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %140 = stablehlo.compare LT, %arg1, %139, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_40 = stablehlo.constant dense<12> : tensor<i32>
    %141 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %142 = stablehlo.add %arg1, %141 : tensor<12xi32>
    %143 = stablehlo.select %140, %142, %arg1 : tensor<12xi1>, tensor<12xi32>
    %144 = stablehlo.broadcast_in_dim %143, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %146 = "stablehlo.scatter"(%arg0, %144, %145) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.sine %arg4 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %147 = call @_roll_static(%arg0) : (tensor<12x8xf32>) -> tensor<12x8xf32>
    %148 = stablehlo.slice %arg0 [0:12, 1:7:2] : (tensor<12x8xf32>) -> tensor<12x3xf32>
    %149 = stablehlo.reverse %148, dims = [0] : tensor<12x3xf32>
    %150 = stablehlo.reshape %arg0 : (tensor<12x8xf32>) -> tensor<1x12x1x8xf32>
    %151 = stablehlo.broadcast_in_dim %150, dims = [0, 1, 2, 3] : (tensor<1x12x1x8xf32>) -> tensor<2x12x1x8xf32>
    %152 = stablehlo.reshape %151 : (tensor<2x12x1x8xf32>) -> tensor<24x8xf32>
    %153 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<12x8xf32>) -> tensor<12x8x2xf32>
    %154 = stablehlo.reshape %153 : (tensor<12x8x2xf32>) -> tensor<12x16xf32>
    %155 = call @_take(%arg0, %arg1) : (tensor<12x8xf32>, tensor<12xi32>) -> tensor<12x8xf32>
    %156 = stablehlo.slice %arg0 [0:8, 0:8] : (tensor<12x8xf32>) -> tensor<8x8xf32>
    %157 = call @diagonal(%156) : (tensor<8x8xf32>) -> tensor<8xf32>
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %158 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %159 = stablehlo.compare LT, %arg1, %158, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_43 = stablehlo.constant dense<12> : tensor<i32>
    %160 = stablehlo.broadcast_in_dim %c_43, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %161 = stablehlo.add %arg1, %160 : tensor<12xi32>
    %162 = stablehlo.select %159, %161, %arg1 : tensor<12xi1>, tensor<12xi32>
    %163 = stablehlo.broadcast_in_dim %162, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %c_44 = stablehlo.constant dense<0> : tensor<i32>
    %164 = stablehlo.broadcast_in_dim %c_44, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %165 = stablehlo.compare LT, %arg1, %164, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_45 = stablehlo.constant dense<8> : tensor<i32>
    %166 = stablehlo.broadcast_in_dim %c_45, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %167 = stablehlo.add %arg1, %166 : tensor<12xi32>
    %168 = stablehlo.select %165, %167, %arg1 : tensor<12xi1>, tensor<12xi32>
    %169 = stablehlo.broadcast_in_dim %168, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %171 = stablehlo.broadcast_in_dim %170, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %c_48 = stablehlo.constant dense<7> : tensor<1xi32>
    %c_49 = stablehlo.constant dense<2147483647> : tensor<i32>
    %173 = stablehlo.broadcast_in_dim %c_49, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %174 = stablehlo.minimum %c_48, %173 : tensor<1xi32>
    %175 = stablehlo.broadcast_in_dim %174, dims = [1] : (tensor<1xi32>) -> tensor<12x1xi32>
    %c_50 = stablehlo.constant dense<0> : tensor<i32>
    %176 = stablehlo.broadcast_in_dim %c_50, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %177 = stablehlo.clamp %176, %169, %175 : tensor<12x1xi32>
    %178 = "stablehlo.scatter"(%172, %177, %171) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x1xf32>) -> tensor<12x8xf32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %180 = stablehlo.multiply %179, %arg3 : tensor<12x8xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %182 = "stablehlo.scatter"(%181, %163, %180) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %183 = stablehlo.add %178, %182 : tensor<12x8xf32>
    %c_53 = stablehlo.constant dense<0> : tensor<i32>
    %184 = stablehlo.broadcast_in_dim %c_53, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %cst_54 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %186 = "stablehlo.scatter"(%arg0, %184, %185) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<1xi32>, tensor<12xf32>) -> tensor<12x8xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %188 = stablehlo.compare GT, %arg0, %187, FLOAT : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xi1>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189 = call @_where_0(%188, %arg0, %cst_56) : (tensor<12x8xi1>, tensor<12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
    %190 = stablehlo.slice %arg3 [0:12, 0:1] : (tensor<12x8xf32>) -> tensor<12x1xf32>
    %191 = stablehlo.reshape %190 : (tensor<12x1xf32>) -> tensor<12xf32>
    %c_57 = stablehlo.constant dense<0> : tensor<i32>
    %192 = stablehlo.broadcast_in_dim %c_57, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %193 = stablehlo.compare LT, %arg1, %192, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_58 = stablehlo.constant dense<8> : tensor<i32>
    %194 = stablehlo.broadcast_in_dim %c_58, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %195 = stablehlo.add %arg1, %194 : tensor<12xi32>
    %196 = stablehlo.select %193, %195, %arg1 : tensor<12xi1>, tensor<12xi32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %198 = "stablehlo.scatter"(%arg0, %197, %191) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %201 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %201 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<12x1xi32>, tensor<12xf32>) -> tensor<12x8xf32>
    %199 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %200 = "stablehlo.gather"(%arg0, %199) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x4xf32>
    return %6, %13, %31, %34, %42, %49, %52, %55, %62, %69, %76, %83, %98, %105, %122, %129, %137, %138, %146, %147, %149, %152, %154, %155, %157, %183, %186, %189, %198, %200 : tensor<12x8xf32>, tensor<12x12xf32>, tensor<12x12xf32>, tensor<12x1xf32>, tensor<12xf32>, tensor<12x3xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x9xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x3xf32>, tensor<24x8xf32>, tensor<12x16xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x4xf32>
  }
  func.func private @remainder(%arg0: tensor<12x1xi32>, %arg1: tensor<i32>) -> tensor<12x1xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<12x1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<12x1xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<12x1xi1>, tensor<12x1xi1>) -> tensor<12x1xi1>
    %12 = stablehlo.and %11, %6 : tensor<12x1xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %14 = stablehlo.add %4, %13 : tensor<12x1xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<12x1xi1>, tensor<12x1xi32>
    return %15 : tensor<12x1xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @take_along_axis(%arg0: tensor<12x8xf32>, %arg1: tensor<12x1xi32>) -> tensor<12x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x1xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<12x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<12x1xi1>, tensor<12x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<12x1xi32>) -> tensor<12x1x1xi32>
    %c_1 = stablehlo.constant dense<7> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<12x1x1xi32>, tensor<12x1x1xi32>) -> tensor<12x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<12x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<12x1x1xi32>, tensor<12x1x1xi32>) -> tensor<12x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<12x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<12x1x1xi1>, tensor<i1>) -> tensor<12x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<12x8xf32>, tensor<12x1x1xi32>) -> tensor<12x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<12x1xi1>, tensor<12x1xf32>
    return %15 : tensor<12x1xf32>
  }
  func.func private @_one_hot(%arg0: tensor<12xi32>) -> tensor<12x9xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x9xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<12x1xi32>) -> tensor<12x9xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x9xi32>) -> tensor<12x9xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<12x9xi32>, tensor<12x9xi32>) -> tensor<12x9xi1>
    %5 = stablehlo.convert %4 : (tensor<12x9xi1>) -> tensor<12x9xf32>
    return %5 : tensor<12x9xf32>
  }
  func.func private @_roll_static(%arg0: tensor<12x8xf32>) -> tensor<12x8xf32> {
    %0 = stablehlo.slice %arg0 [9:12, 0:8] : (tensor<12x8xf32>) -> tensor<3x8xf32>
    %1 = stablehlo.slice %arg0 [0:9, 0:8] : (tensor<12x8xf32>) -> tensor<9x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x8xf32>, tensor<9x8xf32>) -> tensor<12x8xf32>
    return %2 : tensor<12x8xf32>
  }
  func.func private @_take(%arg0: tensor<12x8xf32>, %arg1: tensor<12xi32>) -> tensor<12x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<12x8xf32>, tensor<12x1xi32>) -> tensor<12x8xf32>
    return %1 : tensor<12x8xf32>
  }
  func.func private @diagonal(%arg0: tensor<8x8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %1 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %3 = stablehlo.add %0, %2 : tensor<8x8xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %5 = stablehlo.convert %4 : (tensor<8x8xi1>) -> tensor<8x8xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<8xi32>
      %9 = stablehlo.iota dim = 0 : tensor<8xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
      %c_2 = stablehlo.constant dense<8> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %13 = stablehlo.add %8, %12 : tensor<8xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<8xi1>, tensor<8xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
      %c_4 = stablehlo.constant dense<8> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %18 = stablehlo.add %9, %17 : tensor<8xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<8xi1>, tensor<8xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
      %23 = "stablehlo.gather"(%arg0, %22) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x8xf32>, tensor<8x2xi32>) -> tensor<8xf32>
      stablehlo.return %23 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    return %7 : tensor<8xf32>
  }
  func.func private @_where_0(%arg0: tensor<12x8xi1>, %arg1: tensor<12x8xf32>, %arg2: tensor<f32>) -> tensor<12x8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<12x8xi1>, tensor<12x8xf32>
    return %2 : tensor<12x8xf32>
  }
}
