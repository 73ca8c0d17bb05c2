func.func @gt(%a: tensor<bf16>, %b: tensor<bf16>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = mhlo.compare  GT, %a, %b : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @main(%a: tensor<16x256xbf16>, %b: tensor<i32>, %c: tensor<16x256xi32>, %d: tensor<bf16>) -> (tensor<16x4xbf16>, tensor<16x4xi32>) {
  %4:2 = mhlo.custom_call @ApproxTopK(%a, %c, %d, %b) {
    api_version = 4 : i3privatecalled_computations = [@gt],
    backend_config = {
      aggregate_to_topk = true,
      recall_target = 9.492180e-01 : f32,
      reduction_dim = 1 : i64,
      reduction_input_size_override = -1 : i64,
      top_k = 4 : i64,
       %b : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @main(%a: tensor<16x256xbf16>, %b: tensor<i32>, %c: tensor<16x256xi32>, %d: tensor<bf16>) -> (tensor<16x4xbf16>, tensor<16x4xi32>) {
  %4:2 = mhlo.custom_call @ApproxTopK(%a, %c, %d, %b) {
    api_version = 4 : i3privatecalled_computations = [@gt],
    backend_config = {
      aggregate_to_topk = true,
      recall_target = 9.492180e-01 : f32,
      reduction_dim = 1 : i64,
      reduction_input_size_override = -1 : i64,
      top_k = 4 : i64,
      is_fallback = false
      }
    } : (tensor<16x256xbf16>, tensor<16x256xi32>, tensor<bf16>, tensor<i32>) -> (tensor<16x4xbf16>, tensor<16x4xi32>)
  return %4#0, %4#1 : tensor<16x4xbf16>, is_fallback = false
      }
    } : (tensor<16x256xbf16>, tensor<16x256xi32>, tensor<bf16>, tensor<i32>) -> (tensor<16x4xbf16>, tensor<16x4xi32>)
  return %4#0, %4#1 : tensor<16x4xbf16>, tensor<16x4xi32>
}
