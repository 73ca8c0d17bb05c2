module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<i32>, %arg3: tensor<i1>) -> (tensor<16x16xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}, tensor<8x16xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg3 : (tensor<i1>) -> tensor<i32>
    %1:2 = "stablehlo.case"(%0) ({
      %46 = stablehlo.tanh %arg1 : tensor<8x16xf32>
      %47 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
      %48 = stablehlo.dot_general %46, %47, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      stablehlo.return %48, %46 : tensor<8x16xf32>, tensor<8x16xf32>
    }, {
      %46 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      stablehlo.return %46, %arg1 : tensor<8x16xf32>, tensor<8x16xf32>
    }) : (tensor<i32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %2 = stablehlo.clamp %c, %arg2, %c_0 : tensor<i32>
    %3:3 = "stablehlo.case"(%2) ({
      %c_23 = stablehlo.constant dense<0> : tensor<i32>
      %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %46 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      stablehlo.return %1#0, %c_23, %46 : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
    }, {
      %cst_23 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %46 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %47 = stablehlo.multiply %1#0, %46 : tensor<8x16xf32>
      %c_24 = stablehlo.constant dense<0> : tensor<i32>
      %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %48 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      stablehlo.return %47, %c_24, %48 : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
    }, {
      %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %46 = stablehlo.reduce(%1#0 init: %cst_23) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
      %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %47 = stablehlo.compare GT, %46, %cst_24, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %48 = stablehlo.convert %47 : (tensor<i1>) -> tensor<i32>
      %49:2 = "stablehlo.case"(%48) ({
        %50 = stablehlo.cosine %1#0 : tensor<8x16xf32>
        %51 = stablehlo.sine %1#0 : tensor<8x16xf32>
        stablehlo.return %50, %51 : tensor<8x16xf32>, tensor<8x16xf32>
      }, {
        %50 = stablehlo.sine %1#0 : tensor<8x16xf32>
        %51 = stablehlo.cosine %1#0 : tensor<8x16xf32>
        stablehlo.return %50, %51 : tensor<8x16xf32>, tensor<8x16xf32>
      }) : (tensor<i32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
      stablehlo.return %49#0, %48, %49#1 : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
    }, {
      %46 = func.call @_flip(%1#0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %c_23 = stablehlo.constant dense<0> : tensor<i32>
      %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %47 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      stablehlo.return %46, %c_23, %47 : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
    }) : (tensor<i32>) -> (tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>)
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %arg2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<8> : tensor<i32>
    %5 = stablehlo.add %arg2, %c_2 : tensor<i32>
    %6 = stablehlo.select %4, %5, %arg2 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.dynamic_slice %3#0, %6, %c_3, sizes = [2, 4] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %arg2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<16> : tensor<i32>
    %9 = stablehlo.add %arg2, %c_5 : tensor<i32>
    %10 = stablehlo.select %8, %9, %arg2 : tensor<i1>, tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.dynamic_update_slice %3#0, %7, %c_6, %10 : (tensor<8x16xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %13 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %14 = stablehlo.clamp %12, %11, %13 : tensor<8x16xf32>
    %cst_8 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %16 = stablehlo.compare GT, %11, %15, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %18 = stablehlo.compare LT, %11, %17, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %19 = stablehlo.and %16, %18 : tensor<8x16xi1>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%14 init: %cst_10) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %23 = stablehlo.select %19, %21, %22 : tensor<8x16xi1>, tensor<8x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.dynamic_update_slice %23, %24, %c_14, %10 : (tensor<8x16xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.dynamic_slice %23, %c_15, %10, sizes = [2, 4] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %28 = stablehlo.dynamic_update_slice %27, %26, %6, %c_17 : (tensor<8x16xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %29 = stablehlo.add %25, %28 : tensor<8x16xf32>
    %30 = "stablehlo.case"(%2) ({
      stablehlo.return %29 : tensor<8x16xf32>
    }, {
      %cst_23 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %46 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %47 = stablehlo.multiply %29, %46 : tensor<8x16xf32>
      stablehlo.return %47 : tensor<8x16xf32>
    }, {
      %46 = "stablehlo.case"(%3#1) ({
        %47 = stablehlo.negate %29 : tensor<8x16xf32>
        %48 = stablehlo.multiply %47, %3#2 : tensor<8x16xf32>
        stablehlo.return %48 : tensor<8x16xf32>
      }, {
        %47 = stablehlo.multiply %29, %3#2 : tensor<8x16xf32>
        stablehlo.return %47 : tensor<8x16xf32>
      }) : (tensor<i32>) -> tensor<8x16xf32>
      stablehlo.return %46 : tensor<8x16xf32>
    }, {
      %46 = func.call @_flip_0(%29) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      stablehlo.return %46 : tensor<8x16xf32>
    }) : (tensor<i32>) -> tensor<8x16xf32>
    %31 = "stablehlo.case"(%0) ({
      %46 = stablehlo.dot_general %30, %1#1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %47 = stablehlo.transpose %46, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
      %48 = stablehlo.transpose %47, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
      stablehlo.return %48 : tensor<16x16xf32>
    }, {
      %46 = stablehlo.dot_general %30, %1#1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %47 = stablehlo.transpose %46, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
      stablehlo.return %47 : tensor<16x16xf32>
    }) : (tensor<i32>) -> tensor<16x16xf32>
    %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %33 = stablehlo.multiply %31, %32 : tensor<16x16xf32>
    %34 = stablehlo.subtract %arg0, %33 : tensor<16x16xf32>
    %35 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %37 = stablehlo.add %arg1, %36 : tensor<8x16xf32>
    %cst_20 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %39 = stablehlo.add %arg1, %38 : tensor<8x16xf32>
    %c_21 = stablehlo.constant dense<1> : tensor<i32>
    %40 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
    %41 = stablehlo.compare LT, %35, %40, SIGNED : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>
    %c_22 = stablehlo.constant dense<2> : tensor<i32>
    %42 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
    %43 = stablehlo.compare LT, %35, %42, SIGNED : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>
    %44 = stablehlo.select %43, %37, %39 : tensor<8x16xi1>, tensor<8x16xf32>
    %45 = stablehlo.select %41, %arg1, %44 : tensor<8x16xi1>, tensor<8x16xf32>
    return %34, %20, %45 : tensor<16x16xf32>, tensor<f32>, tensor<8x16xf32>
  }
  func.func private @_flip(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  func.func private @_flip_0(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
