module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>) -> (tensor<7x9xf32> {jax.result_info = "result[0]"}, tensor<40xi16> {jax.result_info = "result[1]"}, tensor<33xi1> {jax.result_info = "result[2]"}, tensor<3x0xf32> {jax.result_info = "result[3]"}, tensor<4xf32> {jax.result_info = "result[4]"}, tensor<2xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<5xi32> {jax.result_info = "result[6]"}, tensor<f32> {jax.result_info = "result[7]"}, tensor<ui8> {jax.result_info = "result[8]"}, tensor<1x2xi1> {jax.result_info = "result[9]"}, tensor<16xbf16> {jax.result_info = "result[10]"}, tensor<3xf16> {jax.result_info = "result[11]"}, tensor<i8> {jax.result_info = "result[12]"}, tensor<f32> {jax.result_info = "result[13]"}, tensor<f32> {jax.result_info = "result[14]"}, tensor<1xf32> {jax.result_info = "result[15]"}, tensor<f32> {jax.result_info = "result[16]"}, tensor<3x4xi32> {jax.result_info = "result[17]"}, tensor<4x4xf32> {jax.result_info = "result[18]"}, tensor<5xf32> {jax.result_info = "result[19]"}) {
    %cst = stablehlo.constant dense<[[0.125730217, -0.132104859, 0.640422642, 0.104900114, -0.535669386, 0.361595064, 1.304000e+00, 0.947080969, -0.703735232], [-1.26542151, -0.623274446, 0.0413259789, -2.3250308, -0.218791664, -1.245911, -0.73226738, -5.442590e-01, -0.316300154], [0.411630541, 1.04251337, -0.12853466, 1.36646342, -0.66519469, 0.351510078, 0.903470158, 0.0940122976, -0.743499279], [-0.921725392, -0.457725823, 0.22019513, -1.00961816, -0.209175572, -0.159225017, 0.540845573, 0.214659125, 0.355372697], [-0.653828621, -0.129613638, 0.783975481, 1.49343109, -1.25906551, 1.51392376, 1.34587538, 0.781311392, 0.264455616], [-0.313922822, 1.45802069, 1.96025836, 1.80163491, 1.31510377, 0.35738042, -1.20831859, -0.0044541331, 0.656474948], [-1.28836143, 0.395122051, 0.429863691, 0.696042716, -1.18411791, -0.661702573, -0.436435252, -1.16980195, 1.73936784]]> : tensor<7x9xf32>
    %c = stablehlo.constant dense<[61, 57, 88, 29, 89, 66, 88, 19, 75, 93, 4, 36, 63, 10, 50, 62, 75, 91, 40, 43, 46, 94, 19, 49, 4, 42, 93, 61, 34, 98, 59, 93, 1, 45, 82, 75, 40, 49, 41, 52]> : tensor<40xi16>
    %c_0 = stablehlo.constant dense<[true, false, true, true, true, false, true, true, true, false, true, true, true, false, true, true, true, false, false, true, true, false, true, false, true, false, true, true, false, true, false, true, true]> : tensor<33xi1>
    %cst_1 = stablehlo.constant dense<> : tensor<3x0xf32>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
    %cst_3 = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,-4.000000e+00)]> : tensor<2xcomplex<f32>>
    %c_4 = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
    %c_5 = stablehlo.constant dense<[[true, false]]> : tensor<1x2xi1>
    %cst_6 = stablehlo.constant dense<[6.953130e-01, -7.578130e-01, 1.421880e+00, 7.265630e-01, 8.437500e-01, 1.164060e+00, 7.890630e-01, 8.437500e-01, 7.568360e-02, -1.429690e+00, -1.347660e-01, -7.695310e-01, -1.421880e+00, 2.578130e-01, -5.703130e-01, -1.031250e+00]> : tensor<16xbf16>
    %cst_7 = stablehlo.constant dense<[-1.042970e+00, 2.683110e-01, 3.586430e-01]> : tensor<3xf16>
    %cst_8 = stablehlo.constant dense<0x7FC00001> : tensor<1xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<7x9xf32>
    %1 = stablehlo.add %cst, %0 : tensor<7x9xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i16>
    %2 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i16>) -> tensor<40xi16>
    %3 = stablehlo.add %c, %2 : tensor<40xi16>
    %4 = stablehlo.not %c_0 : tensor<33xi1>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3x0xf32>
    %6 = stablehlo.add %cst_1, %5 : tensor<3x0xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.add %cst_2, %7 : tensor<4xf32>
    %cst_13 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %9 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
    %10 = stablehlo.add %cst_3, %9 : tensor<2xcomplex<f32>>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %12 = stablehlo.add %c_4, %11 : tensor<5xi32>
    %cst_15 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.add %cst_15, %cst_16 : tensor<f32>
    %c_17 = stablehlo.constant dense<200> : tensor<ui8>
    %c_18 = stablehlo.constant dense<0> : tensor<ui8>
    %14 = stablehlo.add %c_17, %c_18 : tensor<ui8>
    %15 = stablehlo.not %c_5 : tensor<1x2xi1>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %16 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<bf16>) -> tensor<16xbf16>
    %17 = stablehlo.add %cst_6, %16 : tensor<16xbf16>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %18 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f16>) -> tensor<3xf16>
    %19 = stablehlo.add %cst_7, %18 : tensor<3xf16>
    %c_21 = stablehlo.constant dense<-128> : tensor<i8>
    %c_22 = stablehlo.constant dense<0> : tensor<i8>
    %20 = stablehlo.add %c_21, %c_22 : tensor<i8>
    %cst_23 = stablehlo.constant dense<3.40282347E+38> : tensor<f32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.add %cst_23, %cst_24 : tensor<f32>
    %cst_25 = stablehlo.constant dense<1.401300e-45> : tensor<f32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.add %cst_25, %cst_26 : tensor<f32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %24 = stablehlo.add %cst_8, %23 : tensor<1xf32>
    %cst_28 = stablehlo.constant dense<0.125730217> : tensor<f32>
    %25 = stablehlo.add %arg0, %cst_28 : tensor<f32>
    %26 = stablehlo.iota dim = 1 : tensor<3x4xi32>
    %27 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %28 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %c_29 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_29, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %30 = stablehlo.add %27, %29 : tensor<4x4xi32>
    %31 = stablehlo.compare EQ, %30, %28, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %32 = stablehlo.convert %31 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %c_30 = stablehlo.constant dense<0> : tensor<i32>
    %c_31 = stablehlo.constant dense<1> : tensor<i32>
    %33 = call @_linspace(%c_30, %c_31) : (tensor<i32>, tensor<i32>) -> tensor<5xf32>
    %34 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %35 = stablehlo.multiply %33, %34 : tensor<5xf32>
    return %1, %3, %4, %6, %8, %10, %12, %13, %14, %15, %17, %19, %20, %21, %22, %24, %25, %26, %32, %35 : tensor<7x9xf32>, tensor<40xi16>, tensor<33xi1>, tensor<3x0xf32>, tensor<4xf32>, tensor<2xcomplex<f32>>, tensor<5xi32>, tensor<f32>, tensor<ui8>, tensor<1x2xi1>, tensor<16xbf16>, tensor<3xf16>, tensor<i8>, tensor<f32>, tensor<f32>, tensor<1xf32>, tensor<f32>, tensor<3x4xi32>, tensor<4x4xf32>, tensor<5xf32>
  }
  func.func private @_linspace(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.iota dim = 0 : tensor<4xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.divide %2, %3 : tensor<4xf32>
    %5 = stablehlo.reshape %0 : (tensor<f32>) -> tensor<1xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %7 = stablehlo.subtract %6, %4 : tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<4xf32>
    %10 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
    %12 = stablehlo.multiply %11, %4 : tensor<4xf32>
    %13 = stablehlo.add %9, %12 : tensor<4xf32>
    %14 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %15 = stablehlo.concatenate %13, %14, dim = 0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
    return %15 : tensor<5xf32>
  }
}
