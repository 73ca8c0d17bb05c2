module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x64xbf16>, %arg1: tensor<64x32xi4>, %arg2: tensor<32x16xf8E5M2>, %arg3: tensor<32xbf16>, %arg4: tensor<32x8xf16>) -> (tensor<8x16xf32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"}, tensor<8x8xf32> {jax.result_info = "result[2]"}, tensor<32x32xi32> {jax.result_info = "result[3]"}, tensor<8x8xf32> {jax.result_info = "result[4][0]"}, tensor<8x8xf32> {jax.result_info = "result[4][1]"}, tensor<8x8xf32> {jax.result_info = "result[4][2]"}, tensor<8x8xf32> {jax.result_info = "result[4][3]"}, tensor<8x8xf32> {jax.result_info = "result[4][4]"}, tensor<8x8xf32> {jax.result_info = "result[5]"}, tensor<3xi4> {jax.result_info = "result[6]"}, tensor<3xf8E4M3FN> {jax.result_info = "result[7]"}, tensor<8x8xui4> {jax.result_info = "result[8]"}, tensor<8x32xbf16> {jax.result_info = "result[9]"}, tensor<3xbf16> {jax.result_info = "result[10]"}, tensor<8x8xui32> {jax.result_info = "result[11]"}, tensor<8x32x2xui8> {jax.result_info = "result[12]"}) {
    %c = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi4>
    %cst = stablehlo.constant dense<[1.015630e-01, 4.480000e+02, -0.000000e+00]> : tensor<3xf8E4M3FN>
    %cst_0 = stablehlo.constant dense<[1.500000e+00, 0xFF80, 0x7FC0]> : tensor<3xbf16>
    %0 = stablehlo.convert %arg1 : (tensor<64x32xi4>) -> tensor<64x32xbf16>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<32xbf16>) -> tensor<1x32xbf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xbf16>) -> tensor<64x32xbf16>
    %3 = stablehlo.multiply %0, %2 : tensor<64x32xbf16>
    %4 = stablehlo.dot_general %arg0, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xbf16>, tensor<64x32xbf16>) -> tensor<8x32xbf16>
    %5 = stablehlo.convert %4 : (tensor<8x32xbf16>) -> tensor<8x32xf8E4M3FN>
    %6 = stablehlo.dot_general %5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf8E4M3FN>, tensor<32x16xf8E5M2>) -> tensor<8x16xf32>
    %7 = stablehlo.convert %4 : (tensor<8x32xbf16>) -> tensor<8x32xf32>
    %8 = stablehlo.convert %arg4 : (tensor<32x8xf16>) -> tensor<32x8xf32>
    %9 = stablehlo.dot_general %7, %8, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
    %10 = stablehlo.convert %4 : (tensor<8x32xbf16>) -> tensor<8x32xf32>
    %11 = stablehlo.convert %arg4 : (tensor<32x8xf16>) -> tensor<32x8xf32>
    %12 = stablehlo.dot_general %10, %11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
    %13 = stablehlo.convert %arg1 : (tensor<64x32xi4>) -> tensor<64x32xi8>
    %14 = stablehlo.convert %arg1 : (tensor<64x32xi4>) -> tensor<64x32xi8>
    %15 = stablehlo.dot_general %13, %14, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x32xi8>, tensor<64x32xi8>) -> tensor<32x32xi32>
    %16 = stablehlo.convert %9 : (tensor<8x8xf32>) -> tensor<8x8xf8E5M2>
    %17 = stablehlo.convert %16 : (tensor<8x8xf8E5M2>) -> tensor<8x8xf32>
    %18 = stablehlo.convert %9 : (tensor<8x8xf32>) -> tensor<8x8xf8E4M3B11FNUZ>
    %19 = stablehlo.convert %18 : (tensor<8x8xf8E4M3B11FNUZ>) -> tensor<8x8xf32>
    %20 = stablehlo.convert %9 : (tensor<8x8xf32>) -> tensor<8x8xf8E5M2FNUZ>
    %21 = stablehlo.convert %20 : (tensor<8x8xf8E5M2FNUZ>) -> tensor<8x8xf32>
    %22 = stablehlo.convert %9 : (tensor<8x8xf32>) -> tensor<8x8xf8E4M3FNUZ>
    %23 = stablehlo.convert %22 : (tensor<8x8xf8E4M3FNUZ>) -> tensor<8x8xf32>
    %24 = stablehlo.convert %9 : (tensor<8x8xf32>) -> tensor<8x8xf16>
    %25 = stablehlo.convert %24 : (tensor<8x8xf16>) -> tensor<8x8xf32>
    %26 = stablehlo.convert %9 : (tensor<8x8xf32>) -> tensor<8x8xui4>
    %27 = stablehlo.reduce_precision %9, format = e5m10 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %28 = stablehlo.reduce(%4 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xbf16>, tensor<bf16>) -> tensor<8xbf16>
    %cst_2 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %29 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<8xbf16>
    %30 = stablehlo.maximum %29, %28 : tensor<8xbf16>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<8xbf16>) -> tensor<8x1xbf16>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<8x1xbf16>) -> tensor<8x32xbf16>
    %33 = stablehlo.subtract %4, %32 : tensor<8x32xbf16>
    %34 = stablehlo.exponential %33 : tensor<8x32xbf16>
    %35 = stablehlo.convert %34 : (tensor<8x32xbf16>) -> tensor<8x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %38 = stablehlo.convert %37 : (tensor<8x1xf32>) -> tensor<8x1xbf16>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<8x1xbf16>) -> tensor<8x32xbf16>
    %40 = stablehlo.divide %34, %39 : tensor<8x32xbf16>
    %41 = stablehlo.bitcast_convert %9 : (tensor<8x8xf32>) -> tensor<8x8xui32>
    %42 = stablehlo.bitcast_convert %4 : (tensor<8x32xbf16>) -> tensor<8x32x2xui8>
    return %6, %9, %12, %15, %17, %19, %21, %23, %25, %27, %c, %cst, %26, %40, %cst_0, %41, %42 : tensor<8x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<32x32xi32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<3xi4>, tensor<3xf8E4M3FN>, tensor<8x8xui4>, tensor<8x32xbf16>, tensor<3xbf16>, tensor<8x8xui32>, tensor<8x32x2xui8>
  }
}
