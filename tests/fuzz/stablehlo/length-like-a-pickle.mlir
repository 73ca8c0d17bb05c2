!t = tensor<4xf32>
!pair = tuple<!t, tensor<i32>>
#map = affine_map<(d0) -> (d0)>
module @one {
  func.func public @main(%arg0: !t, %arg1: !t) -> !t {
    %0 = stablehlo.add %arg0, %arg1 : !t
    %1 = "stablehl{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{o.d_otgeneral"(%0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (!t, !t) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> !t
    return %2 : !t
  }
}
