func.func @inf(%t: !stablehlo.token) -> tensor<3x3xi32> {
  %0:3 = "stablehlo.infeed"(%t) {infeed_config = "foobarEEEEEEEEnanEEMLïREEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE", layout=[[0, 1], [0]]} : (!stablehlo.token) -> (tensor<3x3xi32>, tensor<i1>, !stablehlo.token)
  func.return %0#0 : tensor<3x3xi32>
}
