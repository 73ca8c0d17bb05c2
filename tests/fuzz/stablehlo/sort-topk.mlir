module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @top_k_gt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func public @main(%arg0: tensor<16x40xf32>, %arg1: tensor<16x40xf32>, %arg2: tensor<50xi32>) -> (tensor<16x40xf32> {jax.result_info = "result[0]"}, tensor<16x40xf32> {jax.result_info = "result[1]"}, tensor<16x5xf32> {jax.result_info = "result[2]"}, tensor<16x5xi32> {jax.result_info = "result[3]"}, tensor<16x4xf32> {jax.result_info = "result[4]"}, tensor<16x4xi32> {jax.result_info = "result[5]"}, tensor<16x40xi32> {jax.result_info = "result[6]"}, tensor<f32> {jax.result_info = "result[7]"}, tensor<8xi32> {jax.result_info = "result[8][0]"}, tensor<8xi32> {jax.result_info = "result[8][1]"}, tensor<16x40xf32> {jax.result_info = "result[9]"}, tensor<16x40xf32> {jax.result_info = "result[10]"}, tensor<16x40xf32> {jax.result_info = "result[11]"}, tensor<16x40xf32> {jax.result_info = "result[12]"}, tensor<40xi32> {jax.result_info = "result[13]"}, tensor<16xi32> {jax.result_info = "result[14]"}, tensor<40xi32> {jax.result_info = "result[15]"}, tensor<16xf32> {jax.result_info = "result[16]"}, tensor<16x40xf32> {jax.result_info = "result[17]"}) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>):
      %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %104 = stablehlo.compare EQ, %arg3, %cst_27, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %105 = stablehlo.select %104, %cst_28, %arg3 : tensor<i1>, tensor<f32>
      %106 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_29 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %107 = stablehlo.select %106, %cst_29, %105 : tensor<i1>, tensor<f32>
      %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %108 = stablehlo.compare EQ, %arg4, %cst_30, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %109 = stablehlo.select %108, %cst_31, %arg4 : tensor<i1>, tensor<f32>
      %110 = stablehlo.compare NE, %arg4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_32 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %111 = stablehlo.select %110, %cst_32, %109 : tensor<i1>, tensor<f32>
      %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %112 = stablehlo.compare EQ, %arg5, %cst_33, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %113 = stablehlo.select %112, %cst_34, %arg5 : tensor<i1>, tensor<f32>
      %114 = stablehlo.compare NE, %arg5, %arg5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_35 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %115 = stablehlo.select %114, %cst_35, %113 : tensor<i1>, tensor<f32>
      %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %116 = stablehlo.compare EQ, %arg6, %cst_36, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %117 = stablehlo.select %116, %cst_37, %arg6 : tensor<i1>, tensor<f32>
      %118 = stablehlo.compare NE, %arg6, %arg6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_38 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %119 = stablehlo.select %118, %cst_38, %117 : tensor<i1>, tensor<f32>
      %120 = stablehlo.compare LT, %115, %119, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %121 = stablehlo.compare LT, %107, %111, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %122 = stablehlo.compare EQ, %107, %111, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %123 = stablehlo.and %122, %120 : tensor<i1>
      %124 = stablehlo.or %121, %123 : tensor<i1>
      stablehlo.return %124 : tensor<i1>
    }) : (tensor<16x40xf32>, tensor<16x40xf32>) -> (tensor<16x40xf32>, tensor<16x40xf32>)
    %values, %indices = chlo.top_k(%arg0, k = 5) : tensor<16x40xf32> -> (tensor<16x5xf32>, tensor<16x5xi32>)
    %1 = stablehlo.iota dim = 1 : tensor<16x40xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2:2 = stablehlo.custom_call @ApproxTopK(%arg0, %1, %cst, %c) {backend_config = "", called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 4 : i64}} : (tensor<16x40xf32>, tensor<16x40xi32>, tensor<f32>, tensor<i32>) -> (tensor<16x4xf32>, tensor<16x4xi32>)
    %3 = call @argsort(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xi32>
    %4 = call @median(%arg0) : (tensor<16x40xf32>) -> tensor<f32>
    %5:2 = call @_unique_sorted_mask(%arg2) : (tensor<50xi32>) -> (tensor<50xi32>, tensor<50xi1>)
    %6 = call @cumsum(%5#1) : (tensor<50xi1>) -> tensor<50xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %8 = call @clip(%6, %c_1) : (tensor<50xi32>, tensor<i32>) -> tensor<50xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %10 = stablehlo.compare LT, %8, %9, SIGNED : (tensor<50xi32>, tensor<50xi32>) -> tensor<50xi1>
    %c_3 = stablehlo.constant dense<8> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %12 = stablehlo.add %8, %11 : tensor<50xi32>
    %13 = stablehlo.select %10, %12, %8 : tensor<50xi1>, tensor<50xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<50xi32>) -> tensor<50x1xi32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %16 = "stablehlo.scatter"(%7, %14, %15) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %104 = stablehlo.add %arg3, %arg4 : tensor<i32>
      stablehlo.return %104 : tensor<i32>
    }) : (tensor<8xi32>, tensor<50x1xi32>, tensor<50xi32>) -> tensor<8xi32>
    %17 = call @cumsum_1(%16) : (tensor<8xi32>) -> tensor<8xi32>
    %c_5 = stablehlo.constant dense<1> : tensor<i32>
    %18 = call @floor_divide(%17, %c_5) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
    %c_6 = stablehlo.constant dense<50> : tensor<i32>
    %19 = call @remainder(%18, %c_6) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %21 = stablehlo.compare LT, %19, %20, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %c_8 = stablehlo.constant dense<50> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %23 = stablehlo.add %19, %22 : tensor<8xi32>
    %24 = stablehlo.select %21, %23, %19 : tensor<8xi1>, tensor<8xi32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %26 = "stablehlo.gather"(%5#0, %25) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<50xi32>, tensor<8x1xi32>) -> tensor<8xi32>
    %27 = call @cumsum(%5#1) : (tensor<50xi1>) -> tensor<50xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %29 = call @clip(%27, %c_10) : (tensor<50xi32>, tensor<i32>) -> tensor<50xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %31 = stablehlo.compare LT, %29, %30, SIGNED : (tensor<50xi32>, tensor<50xi32>) -> tensor<50xi1>
    %c_12 = stablehlo.constant dense<9> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %33 = stablehlo.add %29, %32 : tensor<50xi32>
    %34 = stablehlo.select %31, %33, %29 : tensor<50xi1>, tensor<50xi32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0] : (tensor<50xi32>) -> tensor<50x1xi32>
    %c_13 = stablehlo.constant dense<1> : tensor<i32>
    %36 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %37 = "stablehlo.scatter"(%28, %35, %36) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %104 = stablehlo.add %arg3, %arg4 : tensor<i32>
      stablehlo.return %104 : tensor<i32>
    }) : (tensor<9xi32>, tensor<50x1xi32>, tensor<50xi32>) -> tensor<9xi32>
    %38 = call @cumsum_5(%37) : (tensor<9xi32>) -> tensor<9xi32>
    %c_14 = stablehlo.constant dense<1> : tensor<i32>
    %39 = call @floor_divide_7(%38, %c_14) : (tensor<9xi32>, tensor<i32>) -> tensor<9xi32>
    %c_15 = stablehlo.constant dense<50> : tensor<i32>
    %40 = call @remainder_9(%39, %c_15) : (tensor<9xi32>, tensor<i32>) -> tensor<9xi32>
    %41 = stablehlo.slice %40 [1:9] : (tensor<9xi32>) -> tensor<8xi32>
    %42 = stablehlo.slice %40 [1:9] : (tensor<9xi32>) -> tensor<8xi32>
    %c_16 = stablehlo.constant dense<50> : tensor<i32>
    %43 = call @_where_10(%41, %42, %c_16) : (tensor<8xi32>, tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
    %c_17 = stablehlo.constant dense<1> : tensor<i32>
    %44 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %45 = "stablehlo.scatter"(%40, %44, %43) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<9xi32>, tensor<1xi32>, tensor<8xi32>) -> tensor<9xi32>
    %46 = call @diff(%45) : (tensor<9xi32>) -> tensor<8xi32>
    %47 = call @cumsum_11(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %48 = call @cumprod(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %49 = call @cummax(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %50 = call @cumlogsumexp(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %51 = stablehlo.slice %arg0 [0:1, 0:40] : (tensor<16x40xf32>) -> tensor<1x40xf32>
    %52 = stablehlo.reshape %51 : (tensor<1x40xf32>) -> tensor<40xf32>
    %53 = call @sort(%52) : (tensor<40xf32>) -> tensor<40xf32>
    %54 = stablehlo.slice %arg1 [0:1, 0:40] : (tensor<16x40xf32>) -> tensor<1x40xf32>
    %55 = stablehlo.reshape %54 : (tensor<1x40xf32>) -> tensor<40xf32>
    %56 = call @searchsorted(%53, %55) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi32>
    %57 = call @argmax(%arg0) : (tensor<16x40xf32>) -> tensor<16xi32>
    %58 = call @argmin(%arg1) : (tensor<16x40xf32>) -> tensor<40xi32>
    %c_18 = stablehlo.constant dense<30> : tensor<i32>
    %59 = call @percentile(%arg0, %c_18) : (tensor<16x40xf32>, tensor<i32>) -> tensor<16xf32>
    %60 = stablehlo.slice %arg0 [0:15:2, 0:40] : (tensor<16x40xf32>) -> tensor<8x40xf32>
    %61 = stablehlo.slice %arg0 [1:16:2, 0:40] : (tensor<16x40xf32>) -> tensor<8x40xf32>
    %62 = stablehlo.add %60, %61 : tensor<8x40xf32>
    %63 = stablehlo.slice %62 [0:7:2, 0:40] : (tensor<8x40xf32>) -> tensor<4x40xf32>
    %64 = stablehlo.slice %62 [1:8:2, 0:40] : (tensor<8x40xf32>) -> tensor<4x40xf32>
    %65 = stablehlo.add %63, %64 : tensor<4x40xf32>
    %66 = stablehlo.slice %65 [0:3:2, 0:40] : (tensor<4x40xf32>) -> tensor<2x40xf32>
    %67 = stablehlo.slice %65 [1:4:2, 0:40] : (tensor<4x40xf32>) -> tensor<2x40xf32>
    %68 = stablehlo.add %66, %67 : tensor<2x40xf32>
    %69 = stablehlo.slice %68 [0:1:2, 0:40] : (tensor<2x40xf32>) -> tensor<1x40xf32>
    %70 = stablehlo.slice %68 [1:2:2, 0:40] : (tensor<2x40xf32>) -> tensor<1x40xf32>
    %71 = stablehlo.add %69, %70 : tensor<1x40xf32>
    %72 = stablehlo.slice %71 [0:0, 0:40] : (tensor<1x40xf32>) -> tensor<0x40xf32>
    %73 = stablehlo.slice %68 [2:2:2, 0:40] : (tensor<2x40xf32>) -> tensor<0x40xf32>
    %74 = stablehlo.add %72, %73 : tensor<0x40xf32>
    %75 = stablehlo.slice %68 [0:1, 0:40] : (tensor<2x40xf32>) -> tensor<1x40xf32>
    %76 = stablehlo.concatenate %75, %74, dim = 0 : (tensor<1x40xf32>, tensor<0x40xf32>) -> tensor<1x40xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.pad %76, %cst_19, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x40xf32>, tensor<f32>) -> tensor<2x40xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %78 = stablehlo.pad %71, %cst_20, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x40xf32>, tensor<f32>) -> tensor<2x40xf32>
    %79 = stablehlo.add %77, %78 : tensor<2x40xf32>
    %80 = stablehlo.slice %79 [0:1, 0:40] : (tensor<2x40xf32>) -> tensor<1x40xf32>
    %81 = stablehlo.slice %65 [2:4:2, 0:40] : (tensor<4x40xf32>) -> tensor<1x40xf32>
    %82 = stablehlo.add %80, %81 : tensor<1x40xf32>
    %83 = stablehlo.slice %65 [0:1, 0:40] : (tensor<4x40xf32>) -> tensor<1x40xf32>
    %84 = stablehlo.concatenate %83, %82, dim = 0 : (tensor<1x40xf32>, tensor<1x40xf32>) -> tensor<2x40xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.pad %84, %cst_21, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x40xf32>, tensor<f32>) -> tensor<4x40xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.pad %79, %cst_22, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x40xf32>, tensor<f32>) -> tensor<4x40xf32>
    %87 = stablehlo.add %85, %86 : tensor<4x40xf32>
    %88 = stablehlo.slice %87 [0:3, 0:40] : (tensor<4x40xf32>) -> tensor<3x40xf32>
    %89 = stablehlo.slice %62 [2:8:2, 0:40] : (tensor<8x40xf32>) -> tensor<3x40xf32>
    %90 = stablehlo.add %88, %89 : tensor<3x40xf32>
    %91 = stablehlo.slice %62 [0:1, 0:40] : (tensor<8x40xf32>) -> tensor<1x40xf32>
    %92 = stablehlo.concatenate %91, %90, dim = 0 : (tensor<1x40xf32>, tensor<3x40xf32>) -> tensor<4x40xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.pad %92, %cst_23, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<4x40xf32>, tensor<f32>) -> tensor<8x40xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %94 = stablehlo.pad %87, %cst_24, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<4x40xf32>, tensor<f32>) -> tensor<8x40xf32>
    %95 = stablehlo.add %93, %94 : tensor<8x40xf32>
    %96 = stablehlo.slice %95 [0:7, 0:40] : (tensor<8x40xf32>) -> tensor<7x40xf32>
    %97 = stablehlo.slice %arg0 [2:16:2, 0:40] : (tensor<16x40xf32>) -> tensor<7x40xf32>
    %98 = stablehlo.add %96, %97 : tensor<7x40xf32>
    %99 = stablehlo.slice %arg0 [0:1, 0:40] : (tensor<16x40xf32>) -> tensor<1x40xf32>
    %100 = stablehlo.concatenate %99, %98, dim = 0 : (tensor<1x40xf32>, tensor<7x40xf32>) -> tensor<8x40xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.pad %100, %cst_25, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<8x40xf32>, tensor<f32>) -> tensor<16x40xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %102 = stablehlo.pad %95, %cst_26, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x40xf32>, tensor<f32>) -> tensor<16x40xf32>
    %103 = stablehlo.add %101, %102 : tensor<16x40xf32>
    return %0#0, %0#1, %values, %indices, %2#0, %2#1, %3, %4, %26, %46, %47, %48, %49, %50, %56, %57, %58, %59, %103 : tensor<16x40xf32>, tensor<16x40xf32>, tensor<16x5xf32>, tensor<16x5xi32>, tensor<16x4xf32>, tensor<16x4xi32>, tensor<16x40xi32>, tensor<f32>, tensor<8xi32>, tensor<8xi32>, tensor<16x40xf32>, tensor<16x40xf32>, tensor<16x40xf32>, tensor<16x40xf32>, tensor<40xi32>, tensor<16xi32>, tensor<40xi32>, tensor<16xf32>, tensor<16x40xf32>
  }
  func.func private @argsort(%arg0: tensor<16x40xf32>) -> tensor<16x40xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<16x40xi32>
    %1 = stablehlo.reverse %arg0, dims = [0] : tensor<16x40xf32>
    %2 = stablehlo.reverse %0, dims = [0] : tensor<16x40xi32>
    %3:2 = "stablehlo.sort"(%1, %2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_1, %6 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.select %9, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %12 = stablehlo.select %11, %cst_4, %10 : tensor<i1>, tensor<f32>
      %13 = stablehlo.compare LT, %8, %12, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    }) : (tensor<16x40xf32>, tensor<16x40xi32>) -> (tensor<16x40xf32>, tensor<16x40xi32>)
    %4 = stablehlo.reverse %3#1, dims = [0] : tensor<16x40xi32>
    return %4 : tensor<16x40xi32>
  }
  func.func private @median(%arg0: tensor<16x40xf32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = call @quantile(%arg0, %cst) : (tensor<16x40xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @quantile(%arg0: tensor<16x40xf32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.reshape %arg0 : (tensor<16x40xf32>) -> tensor<640xf32>
    %1 = stablehlo.compare NE, %0, %0, FLOAT : (tensor<640xf32>, tensor<640xf32>) -> tensor<640xi1>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<640xi1>, tensor<i1>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = call @_where(%3, %cst, %0) : (tensor<1xi1>, tensor<f32>, tensor<640xf32>) -> tensor<640xf32>
    %5 = "stablehlo.sort"(%4) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = stablehlo.compare EQ, %arg2, %cst_9, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %23 = stablehlo.select %22, %cst_10, %arg2 : tensor<i1>, tensor<f32>
      %24 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_11 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %25 = stablehlo.select %24, %cst_11, %23 : tensor<i1>, tensor<f32>
      %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.compare EQ, %arg3, %cst_12, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.select %26, %cst_13, %arg3 : tensor<i1>, tensor<f32>
      %28 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_14 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %29 = stablehlo.select %28, %cst_14, %27 : tensor<i1>, tensor<f32>
      %30 = stablehlo.compare LT, %25, %29, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %30 : tensor<i1>
    }) : (tensor<640xf32>) -> tensor<640xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+02> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.subtract %cst_0, %cst_1 : tensor<f32>
    %7 = stablehlo.multiply %arg1, %6 : tensor<f32>
    %8 = stablehlo.floor %7 : tensor<f32>
    %9 = stablehlo.ceil %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<6.400000e+02> : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.clamp %cst_4, %8, %10 : tensor<f32>
    %cst_5 = stablehlo.constant dense<6.400000e+02> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.subtract %cst_5, %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.clamp %cst_7, %9, %12 : tensor<f32>
    %14 = stablehlo.convert %11 : (tensor<f32>) -> tensor<i32>
    %15 = stablehlo.convert %13 : (tensor<f32>) -> tensor<i32>
    %16 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.gather"(%5, %16) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<640xf32>, tensor<1xi32>) -> tensor<f32>
    %18 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.gather"(%5, %18) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<640xf32>, tensor<1xi32>) -> tensor<f32>
    %20 = stablehlo.add %17, %19 : tensor<f32>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %21 = stablehlo.multiply %20, %cst_8 : tensor<f32>
    return %21 : tensor<f32>
  }
  func.func private @_where(%arg0: tensor<1xi1>, %arg1: tensor<f32>, %arg2: tensor<640xf32>) -> tensor<640xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<1xi1>) -> tensor<640xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<640xf32>
    %3 = stablehlo.select %1, %2, %arg2 : tensor<640xi1>, tensor<640xf32>
    return %3 : tensor<640xf32>
  }
  func.func private @_unique_sorted_mask(%arg0: tensor<50xi32>) -> (tensor<50xi32>, tensor<50xi1>) {
    %0 = stablehlo.reshape %arg0 : (tensor<50xi32>) -> tensor<50x1xi32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<50x1xi32>) -> tensor<1x50xi32>
    %2 = stablehlo.reverse %1, dims = [0] : tensor<1x50xi32>
    %3 = call @lexsort(%2) : (tensor<1x50xi32>) -> tensor<50xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %5 = stablehlo.compare LT, %3, %4, SIGNED : (tensor<50xi32>, tensor<50xi32>) -> tensor<50xi1>
    %c_0 = stablehlo.constant dense<50> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %7 = stablehlo.add %3, %6 : tensor<50xi32>
    %8 = stablehlo.select %5, %7, %3 : tensor<50xi1>, tensor<50xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<50xi32>) -> tensor<50x1xi32>
    %10 = "stablehlo.gather"(%arg0, %9) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<50xi32>, tensor<50x1xi32>) -> tensor<50xi32>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<50xi1>
    %12 = stablehlo.slice %10 [1:50] : (tensor<50xi32>) -> tensor<49xi32>
    %13 = stablehlo.slice %10 [0:49] : (tensor<50xi32>) -> tensor<49xi32>
    %14 = stablehlo.compare NE, %12, %13, SIGNED : (tensor<49xi32>, tensor<49xi32>) -> tensor<49xi1>
    %c_2 = stablehlo.constant dense<false> : tensor<i1>
    %15 = stablehlo.reduce(%14 init: %c_2) applies stablehlo.or across dimensions = [] : (tensor<49xi1>, tensor<i1>) -> tensor<49xi1>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %17 = "stablehlo.scatter"(%11, %16, %15) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<i1>, %arg2: tensor<i1>):
      stablehlo.return %arg2 : tensor<i1>
    }) : (tensor<50xi1>, tensor<1xi32>, tensor<49xi1>) -> tensor<50xi1>
    return %10, %17 : tensor<50xi32>, tensor<50xi1>
  }
  func.func private @lexsort(%arg0: tensor<1x50xi32>) -> tensor<50xi32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:50] : (tensor<1x50xi32>) -> tensor<1x50xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x50xi32>) -> tensor<50xi32>
    %2 = stablehlo.iota dim = 0 : tensor<50xi32>
    %3:2 = "stablehlo.sort"(%1, %2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %4 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }) : (tensor<50xi32>, tensor<50xi32>) -> (tensor<50xi32>, tensor<50xi32>)
    return %3#1 : tensor<50xi32>
  }
  func.func private @cumsum(%arg0: tensor<50xi1>) -> tensor<50xi32> {
    %0 = stablehlo.convert %arg0 : (tensor<50xi1>) -> tensor<50xi32>
    %1 = call @cumsum_0(%0) : (tensor<50xi32>) -> tensor<50xi32>
    return %1 : tensor<50xi32>
  }
  func.func private @cumsum_0(%arg0: tensor<50xi32>) -> tensor<50xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[49, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 50>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<50xi32>, tensor<i32>) -> tensor<50xi32>
    return %1 : tensor<50xi32>
  }
  func.func private @clip(%arg0: tensor<50xi32>, %arg1: tensor<i32>) -> tensor<50xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<50xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<50xi32>
    return %2 : tensor<50xi32>
  }
  func.func private @cumsum_1(%arg0: tensor<8xi32>) -> tensor<8xi32> {
    %0 = call @cumsum_2(%arg0) : (tensor<8xi32>) -> tensor<8xi32>
    return %0 : tensor<8xi32>
  }
  func.func private @cumsum_2(%arg0: tensor<8xi32>) -> tensor<8xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 8>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
    return %1 : tensor<8xi32>
  }
  func.func private @floor_divide(%arg0: tensor<8xi32>, %arg1: tensor<i32>) -> tensor<8xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %1 = stablehlo.divide %arg0, %0 : tensor<8xi32>
    %2 = stablehlo.sign %arg0 : tensor<8xi32>
    %3 = stablehlo.sign %arg1 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %5 = stablehlo.compare NE, %2, %4, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %7 = stablehlo.remainder %arg0, %6 : tensor<8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %9 = stablehlo.compare NE, %7, %8, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %10 = stablehlo.and %5, %9 : tensor<8xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %12 = stablehlo.subtract %1, %11 : tensor<8xi32>
    %13 = call @_where_3(%10, %12, %1) : (tensor<8xi1>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    return %13 : tensor<8xi32>
  }
  func.func private @_where_3(%arg0: tensor<8xi1>, %arg1: tensor<8xi32>, %arg2: tensor<8xi32>) -> tensor<8xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<8xi1>, tensor<8xi32>
    return %0 : tensor<8xi32>
  }
  func.func private @remainder(%arg0: tensor<8xi32>, %arg1: tensor<i32>) -> tensor<8xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where_4(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<8xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<8xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
    %12 = stablehlo.and %11, %6 : tensor<8xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %14 = stablehlo.add %4, %13 : tensor<8xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<8xi1>, tensor<8xi32>
    return %15 : tensor<8xi32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @cumsum_5(%arg0: tensor<9xi32>) -> tensor<9xi32> {
    %0 = call @cumsum_6(%arg0) : (tensor<9xi32>) -> tensor<9xi32>
    return %0 : tensor<9xi32>
  }
  func.func private @cumsum_6(%arg0: tensor<9xi32>) -> tensor<9xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[8, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 9>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<9xi32>, tensor<i32>) -> tensor<9xi32>
    return %1 : tensor<9xi32>
  }
  func.func private @floor_divide_7(%arg0: tensor<9xi32>, %arg1: tensor<i32>) -> tensor<9xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %1 = stablehlo.divide %arg0, %0 : tensor<9xi32>
    %2 = stablehlo.sign %arg0 : tensor<9xi32>
    %3 = stablehlo.sign %arg1 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %5 = stablehlo.compare NE, %2, %4, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %7 = stablehlo.remainder %arg0, %6 : tensor<9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %9 = stablehlo.compare NE, %7, %8, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %10 = stablehlo.and %5, %9 : tensor<9xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %12 = stablehlo.subtract %1, %11 : tensor<9xi32>
    %13 = call @_where_8(%10, %12, %1) : (tensor<9xi1>, tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
    return %13 : tensor<9xi32>
  }
  func.func private @_where_8(%arg0: tensor<9xi1>, %arg1: tensor<9xi32>, %arg2: tensor<9xi32>) -> tensor<9xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<9xi1>, tensor<9xi32>
    return %0 : tensor<9xi32>
  }
  func.func private @remainder_9(%arg0: tensor<9xi32>, %arg1: tensor<i32>) -> tensor<9xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where_4(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<9xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<9xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<9xi1>, tensor<9xi1>) -> tensor<9xi1>
    %12 = stablehlo.and %11, %6 : tensor<9xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %14 = stablehlo.add %4, %13 : tensor<9xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<9xi1>, tensor<9xi32>
    return %15 : tensor<9xi32>
  }
  func.func private @_where_10(%arg0: tensor<8xi32>, %arg1: tensor<8xi32>, %arg2: tensor<i32>) -> tensor<8xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %1 = stablehlo.compare NE, %arg0, %0, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %2 = stablehlo.convert %arg2 : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %4 = stablehlo.select %1, %arg1, %3 : tensor<8xi1>, tensor<8xi32>
    return %4 : tensor<8xi32>
  }
  func.func private @diff(%arg0: tensor<9xi32>) -> tensor<8xi32> {
    %0 = stablehlo.slice %arg0 [1:9] : (tensor<9xi32>) -> tensor<8xi32>
    %1 = stablehlo.slice %arg0 [0:8] : (tensor<9xi32>) -> tensor<8xi32>
    %2 = stablehlo.subtract %0, %1 : tensor<8xi32>
    return %2 : tensor<8xi32>
  }
  func.func private @cumsum_11(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = call @cumsum_12(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    return %0 : tensor<16x40xf32>
  }
  func.func private @cumsum_12(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [39, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 40>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<16x40xf32>, tensor<f32>) -> tensor<16x40xf32>
    return %1 : tensor<16x40xf32>
  }
  func.func private @cumprod(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = call @cumprod_13(%arg0) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    return %0 : tensor<16x40xf32>
  }
  func.func private @cumprod_13(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 16, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<16x40xf32>, tensor<f32>) -> tensor<16x40xf32>
    return %0 : tensor<16x40xf32>
  }
  func.func private @cummax(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 39]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 40>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<16x40xf32>, tensor<f32>) -> tensor<16x40xf32>
    return %1 : tensor<16x40xf32>
  }
  func.func private @cumlogsumexp(%arg0: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 16, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      %2 = stablehlo.subtract %arg1, %arg2 : tensor<f32>
      %3 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      %5 = stablehlo.abs %2 : tensor<f32>
      %6 = stablehlo.negate %5 : tensor<f32>
      %7 = stablehlo.exponential %6 : tensor<f32>
      %8 = stablehlo.log_plus_one %7 : tensor<f32>
      %9 = stablehlo.add %1, %8 : tensor<f32>
      %10 = stablehlo.select %3, %4, %9 : tensor<i1>, tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<16x40xf32>, tensor<f32>) -> tensor<16x40xf32>
    return %0 : tensor<16x40xf32>
  }
  func.func private @sort(%arg0: tensor<40xf32>) -> tensor<40xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    return %0 : tensor<40xf32>
  }
  func.func private @searchsorted(%arg0: tensor<40xf32>, %arg1: tensor<40xf32>) -> tensor<40xi32> {
    %0 = call @_searchsorted_scan_impl(%arg0, %arg1) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi32>
    return %0 : tensor<40xi32>
  }
  func.func private @_searchsorted_scan_impl(%arg0: tensor<40xf32>, %arg1: tensor<40xf32>) -> tensor<40xi32> {
    %0 = call @_searchsorted_scan_impl_14(%arg0, %arg1) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi32>
    return %0 : tensor<40xi32>
  }
  func.func private @_searchsorted_scan_impl_14(%arg0: tensor<40xf32>, %arg1: tensor<40xf32>) -> tensor<40xi32> {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %c_0 = stablehlo.constant dense<40> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %c_1, %iterArg_4 = %0, %iterArg_5 = %1) : tensor<40xf32>, tensor<40xf32>, tensor<i32>, tensor<40xui32>, tensor<40xui32>
    cond {
      %c_6 = stablehlo.constant dense<6> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_4, %iterArg_5) : (tensor<40xf32>, tensor<40xf32>, tensor<40xui32>, tensor<40xui32>) -> (tensor<40xui32>, tensor<40xui32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %5, %4#0, %4#1 : tensor<40xf32>, tensor<40xf32>, tensor<i32>, tensor<40xui32>, tensor<40xui32>
    }
    %3 = stablehlo.convert %2#4 : (tensor<40xui32>) -> tensor<40xi32>
    return %3 : tensor<40xi32>
  }
  func.func private @closed_call(%arg0: tensor<40xf32>, %arg1: tensor<40xf32>, %arg2: tensor<40xui32>, %arg3: tensor<40xui32>) -> (tensor<40xui32>, tensor<40xui32>) {
    %0 = stablehlo.subtract %arg3, %arg2 : tensor<40xui32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %1 = call @floor_divide_15(%0, %c) : (tensor<40xui32>, tensor<i32>) -> tensor<40xui32>
    %2 = stablehlo.add %arg2, %1 : tensor<40xui32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<40xui32>) -> tensor<40x1xui32>
    %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<40xf32>, tensor<40x1xui32>) -> tensor<40x1xf32>
    %5 = stablehlo.reshape %4 : (tensor<40x1xf32>) -> tensor<40xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %7 = stablehlo.compare EQ, %arg1, %6, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %9 = stablehlo.select %7, %8, %arg1 : tensor<40xi1>, tensor<40xf32>
    %10 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %12 = stablehlo.select %10, %11, %9 : tensor<40xi1>, tensor<40xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %14 = stablehlo.compare EQ, %5, %13, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %16 = stablehlo.select %14, %15, %5 : tensor<40xi1>, tensor<40xf32>
    %17 = stablehlo.compare NE, %5, %5, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %19 = stablehlo.select %17, %18, %16 : tensor<40xi1>, tensor<40xf32>
    %20 = stablehlo.compare LE, %12, %19, TOTALORDER : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %21 = stablehlo.select %20, %arg2, %2 : tensor<40xi1>, tensor<40xui32>
    %22 = stablehlo.select %20, %2, %arg3 : tensor<40xi1>, tensor<40xui32>
    return %21, %22 : tensor<40xui32>, tensor<40xui32>
  }
  func.func private @floor_divide_15(%arg0: tensor<40xui32>, %arg1: tensor<i32>) -> tensor<40xui32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %2 = stablehlo.divide %arg0, %1 : tensor<40xui32>
    return %2 : tensor<40xui32>
  }
  func.func private @argmax(%arg0: tensor<16x40xf32>) -> tensor<16xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<16x40xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<16x40xf32>, tensor<16x40xi32>, tensor<f32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<16xi32>
  }
  func.func private @argmin(%arg0: tensor<16x40xf32>) -> tensor<40xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<16x40xi32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [0] : (tensor<16x40xf32>, tensor<16x40xi32>, tensor<f32>, tensor<i32>) -> (tensor<40xf32>, tensor<40xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<40xi32>
  }
  func.func private @percentile(%arg0: tensor<16x40xf32>, %arg1: tensor<i32>) -> tensor<16xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %1 = stablehlo.divide %0, %cst : tensor<f32>
    %2 = call @quantile_16(%arg0, %1) : (tensor<16x40xf32>, tensor<f32>) -> tensor<16xf32>
    return %2 : tensor<16xf32>
  }
  func.func private @quantile_16(%arg0: tensor<16x40xf32>, %arg1: tensor<f32>) -> tensor<16xf32> {
    %0 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<16x40xf32>, tensor<16x40xf32>) -> tensor<16x40xi1>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.or across dimensions = [1] : (tensor<16x40xi1>, tensor<i1>) -> tensor<16xi1>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<16xi1>) -> tensor<16x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %3 = call @_where_17(%2, %cst, %arg0) : (tensor<16x1xi1>, tensor<f32>, tensor<16x40xf32>) -> tensor<16x40xf32>
    %4 = "stablehlo.sort"(%3) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.compare EQ, %arg2, %cst_9, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.select %26, %cst_10, %arg2 : tensor<i1>, tensor<f32>
      %28 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_11 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %29 = stablehlo.select %28, %cst_11, %27 : tensor<i1>, tensor<f32>
      %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %30 = stablehlo.compare EQ, %arg3, %cst_12, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %31 = stablehlo.select %30, %cst_13, %arg3 : tensor<i1>, tensor<f32>
      %32 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_14 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %33 = stablehlo.select %32, %cst_14, %31 : tensor<i1>, tensor<f32>
      %34 = stablehlo.compare LT, %29, %33, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %34 : tensor<i1>
    }) : (tensor<16x40xf32>) -> tensor<16x40xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.subtract %cst_0, %cst_1 : tensor<f32>
    %6 = stablehlo.multiply %arg1, %5 : tensor<f32>
    %7 = stablehlo.floor %6 : tensor<f32>
    %8 = stablehlo.ceil %6 : tensor<f32>
    %9 = stablehlo.subtract %6, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.subtract %cst_3, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.clamp %cst_5, %7, %11 : tensor<f32>
    %cst_6 = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.subtract %cst_6, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.clamp %cst_8, %8, %13 : tensor<f32>
    %15 = stablehlo.convert %12 : (tensor<f32>) -> tensor<i32>
    %16 = stablehlo.convert %14 : (tensor<f32>) -> tensor<i32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.gather"(%4, %17) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, indices_are_sorted = false, slice_sizes = array<i64: 16, 1>}> : (tensor<16x40xf32>, tensor<1xi32>) -> tensor<16xf32>
    %19 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.gather"(%4, %19) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, indices_are_sorted = false, slice_sizes = array<i64: 16, 1>}> : (tensor<16x40xf32>, tensor<1xi32>) -> tensor<16xf32>
    %21 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %22 = stablehlo.multiply %18, %21 : tensor<16xf32>
    %23 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %24 = stablehlo.multiply %20, %23 : tensor<16xf32>
    %25 = stablehlo.add %22, %24 : tensor<16xf32>
    return %25 : tensor<16xf32>
  }
  func.func private @_where_17(%arg0: tensor<16x1xi1>, %arg1: tensor<f32>, %arg2: tensor<16x40xf32>) -> tensor<16x40xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<16x1xi1>) -> tensor<16x40xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x40xf32>
    %3 = stablehlo.select %1, %2, %arg2 : tensor<16x40xi1>, tensor<16x40xf32>
    return %3 : tensor<16x40xf32>
  }
}
