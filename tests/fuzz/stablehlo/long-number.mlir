module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x32xcomplex<f32>> {tf.aliasing_output = 0 : i32}, %arg1: tensor<32x8xcomplex<f32>> {tf.aliasing_output = 1 : i32}, %arg2: tensor<16x16xcomplex<f32>>, %arg3: tensor<16x8xcomplex<f32>>) -> (tensor<16x32xcomplex<f32>> {jax.result_info = "result[0]['a']"}, tensor<32x8xcomplex<f32>> {jax.result_info = "result[0]['b']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xcomplex<f32>>, tensor<16x32xcomplex<f32>>) -> tensor<16x32xcomplex<f32>>
    %1 = stablehlo.abs %0 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %2 = stablehlo.real %0 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %3 = stablehlo.imag %0 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %4 = stablehlo.negate %3 : tensor<16x32xf32>
    %5 = stablehlo.complex %2, %4 : tensor<16x32xcomplex<f32>>
    %6 = stablehlo.convert %1 : (tensor<16x32xf32>) -> tensor<16x32xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<16x32xcomplex<f32>>
    %8 = stablehlo.compare EQ, %6, %7, FLOAT : (tensor<16x32xcomplex<f32>>, tensor<16x32xcomplex<f32>>) -> tensor<16x32xi1>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<16x32xcomplex<f32>>
    %10 = stablehlo.select %8, %9, %6 : tensor<16x32xi1>, tensor<16x32xcomplex<f32>>
    %11 = stablehlo.divide %5, %10 : tensor<16x32xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<1.0444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444444400000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %13 = stablehlo.subtract %1, %12 : tensor<16x32xf32>
    %14 = stablehlo.negate %13 : tensor<16x32xf32>
    %15 = stablehlo.exponential %14 : tensor<16x32xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %17 = stablehlo.add %16, %15 : tensor<16x32xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %19 = stablehlo.divide %18, %17 : tensor<16x32xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %21 = stablehlo.subtract %20, %19 : tensor<16x32xf32>
    %22 = stablehlo.multiply %19, %21 : tensor<16x32xf32>
    %23 = stablehlo.convert %19 : (tensor<16x32xf32>) -> tensor<16x32xcomplex<f32>>
    %24 = stablehlo.multiply %0, %23 : tensor<16x32xcomplex<f32>>
    %cst_5 = stablehlo.constant dense<(1.000000e-03,0.000000e+00)> : tensor<complex<f32>>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<complex<f32>>) -> tensor<16x32xcomplex<f32>>
    %26 = stablehlo.add %0, %25 : tensor<16x32xcomplex<f32>>
    %27:3 = call @angle(%26) : (tensor<16x32xcomplex<f32>>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>)
    %28 = stablehlo.convert %27#0 : (tensor<16x32xf32>) -> tensor<16x32xcomplex<f32>>
    %cst_6 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %29 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<complex<f32>>) -> tensor<16x32xcomplex<f32>>
    %30 = stablehlo.multiply %29, %28 : tensor<16x32xcomplex<f32>>
    %31 = stablehlo.exponential %30 : tensor<16x32xcomplex<f32>>
    %32 = stablehlo.add %24, %31 : tensor<16x32xcomplex<f32>>
    %33 = stablehlo.dot_general %32, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xcomplex<f32>>, tensor<32x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    %34 = stablehlo.subtract %33, %arg3 : tensor<16x8xcomplex<f32>>
    %35 = stablehlo.abs %34 : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xf32>
    %36 = stablehlo.real %34 : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xf32>
    %37 = stablehlo.imag %34 : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xf32>
    %38 = stablehlo.negate %37 : tensor<16x8xf32>
    %39 = stablehlo.complex %36, %38 : tensor<16x8xcomplex<f32>>
    %40 = stablehlo.convert %35 : (tensor<16x8xf32>) -> tensor<16x8xcomplex<f32>>
    %cst_7 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %41 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<complex<f32>>) -> tensor<16x8xcomplex<f32>>
    %42 = stablehlo.compare EQ, %40, %41, FLOAT : (tensor<16x8xcomplex<f32>>, tensor<16x8xcomplex<f32>>) -> tensor<16x8xi1>
    %cst_8 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<complex<f32>>) -> tensor<16x8xcomplex<f32>>
    %44 = stablehlo.select %42, %43, %40 : tensor<16x8xi1>, tensor<16x8xcomplex<f32>>
    %45 = stablehlo.divide %39, %44 : tensor<16x8xcomplex<f32>>
    %46 = stablehlo.multiply %35, %35 : tensor<16x8xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %48 = stablehlo.multiply %47, %35 : tensor<16x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%46 init: %cst_10) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %50 = stablehlo.divide %49, %cst_11 : tensor<f32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_13 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %51 = stablehlo.divide %cst_12, %cst_13 : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %53 = stablehlo.multiply %52, %48 : tensor<16x8xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %55 = stablehlo.complex %53, %54 : tensor<16x8xcomplex<f32>>
    %56 = stablehlo.multiply %55, %45 : tensor<16x8xcomplex<f32>>
    %57 = stablehlo.dot_general %56, %32, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xcomplex<f32>>, tensor<16x32xcomplex<f32>>) -> tensor<8x32xcomplex<f32>>
    %58 = stablehlo.transpose %57, dims = [1, 0] : (tensor<8x32xcomplex<f32>>) -> tensor<32x8xcomplex<f32>>
    %59 = stablehlo.dot_general %56, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x8xcomplex<f32>>, tensor<32x8xcomplex<f32>>) -> tensor<16x32xcomplex<f32>>
    %60 = stablehlo.multiply %59, %31 : tensor<16x32xcomplex<f32>>
    %cst_15 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %61 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<complex<f32>>) -> tensor<16x32xcomplex<f32>>
    %62 = stablehlo.multiply %61, %60 : tensor<16x32xcomplex<f32>>
    %63 = stablehlo.real %62 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %64 = stablehlo.convert %63 : tensor<16x32xf32>
    %65 = call @angle_0(%27#1, %27#2, %64) : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xcomplex<f32>>
    %66 = stablehlo.multiply %0, %59 : tensor<16x32xcomplex<f32>>
    %67 = stablehlo.multiply %59, %23 : tensor<16x32xcomplex<f32>>
    %68 = stablehlo.add %65, %67 : tensor<16x32xcomplex<f32>>
    %69 = stablehlo.real %66 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %70 = stablehlo.convert %69 : tensor<16x32xf32>
    %71 = stablehlo.multiply %70, %22 : tensor<16x32xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %73 = stablehlo.complex %71, %72 : tensor<16x32xcomplex<f32>>
    %74 = stablehlo.multiply %73, %11 : tensor<16x32xcomplex<f32>>
    %75 = stablehlo.add %68, %74 : tensor<16x32xcomplex<f32>>
    %76 = stablehlo.dot_general %75, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xcomplex<f32>>, tensor<16x16xcomplex<f32>>) -> tensor<32x16xcomplex<f32>>
    %77 = stablehlo.transpose %76, dims = [1, 0] : (tensor<32x16xcomplex<f32>>) -> tensor<16x32xcomplex<f32>>
    %78 = stablehlo.real %77 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %79 = stablehlo.imag %77 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %80 = stablehlo.negate %79 : tensor<16x32xf32>
    %81 = stablehlo.complex %78, %80 : tensor<16x32xcomplex<f32>>
    %cst_17 = stablehlo.constant dense<(1.000000e-01,0.000000e+00)> : tensor<complex<f32>>
    %82 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<complex<f32>>) -> tensor<16x32xcomplex<f32>>
    %83 = stablehlo.multiply %82, %81 : tensor<16x32xcomplex<f32>>
    %84 = stablehlo.subtract %arg0, %83 : tensor<16x32xcomplex<f32>>
    %85 = stablehlo.real %58 : (tensor<32x8xcomplex<f32>>) -> tensor<32x8xf32>
    %86 = stablehlo.imag %58 : (tensor<32x8xcomplex<f32>>) -> tensor<32x8xf32>
    %87 = stablehlo.negate %86 : tensor<32x8xf32>
    %88 = stablehlo.complex %85, %87 : tensor<32x8xcomplex<f32>>
    %cst_18 = stablehlo.constant dense<(1.000000e-01,0.000000e+00)> : tensor<complex<f32>>
    %89 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<complex<f32>>) -> tensor<32x8xcomplex<f32>>
    %90 = stablehlo.multiply %89, %88 : tensor<32x8xcomplex<f32>>
    %91 = stablehlo.subtract %arg1, %90 : tensor<32x8xcomplex<f32>>
    return %84, %91, %50 : tensor<16x32xcomplex<f32>>, tensor<32x8xcomplex<f32>>, tensor<f32>
  }
  func.func private @angle(%arg0: tensor<16x32xcomplex<f32>>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
    %0 = stablehlo.real %arg0 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %1 = stablehlo.imag %arg0 : (tensor<16x32xcomplex<f32>>) -> tensor<16x32xf32>
    %2 = stablehlo.atan2 %1, %0 : tensor<16x32xf32>
    %3 = chlo.square %1 : tensor<16x32xf32> -> tensor<16x32xf32>
    %4 = chlo.square %0 : tensor<16x32xf32> -> tensor<16x32xf32>
    %5 = stablehlo.add %3, %4 : tensor<16x32xf32>
    %6 = stablehlo.divide %0, %5 : tensor<16x32xf32>
    %7 = stablehlo.negate %1 : tensor<16x32xf32>
    %8 = chlo.square %1 : tensor<16x32xf32> -> tensor<16x32xf32>
    %9 = chlo.square %0 : tensor<16x32xf32> -> tensor<16x32xf32>
    %10 = stablehlo.add %8, %9 : tensor<16x32xf32>
    %11 = stablehlo.divide %7, %10 : tensor<16x32xf32>
    return %2, %6, %11 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  }
  func.func private @angle_0(%arg0: tensor<16x32xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<16x32xf32>) -> tensor<16x32xcomplex<f32>> {
    %0 = stablehlo.multiply %arg2, %arg1 : tensor<16x32xf32>
    %1 = stablehlo.multiply %arg2, %arg0 : tensor<16x32xf32>
    %2 = stablehlo.negate %1 : tensor<16x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %4 = stablehlo.complex %3, %2 : tensor<16x32xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %6 = stablehlo.complex %0, %5 : tensor<16x32xcomplex<f32>>
    %7 = stablehlo.add %4, %6 : tensor<16x32xcomplex<f32>>
    return %7 : tensor<16x32xcomplex<f32>>
  }
}
