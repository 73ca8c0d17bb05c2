module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<4x16xf32>, %arg2: tensor<i32>) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<4x16xf32> {jax.result_info = "result[1]"}, tensor<5xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg2, %iterArg_2 = %arg0, %iterArg_3 = %c, %iterArg_4 = %arg1) : tensor<i32>, tensor<16x16xf32>, tensor<i32>, tensor<4x16xf32>
    cond {
      %6 = stablehlo.convert %iterArg_3 : tensor<i32>
      %7 = stablehlo.compare LT, %6, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %8 = stablehlo.abs %iterArg_4 : tensor<4x16xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
      %cst_6 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %10 = stablehlo.compare GT, %9, %cst_6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.and %7, %10 : tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %6:4 = stablehlo.while(%iterArg_8 = %iterArg_2, %iterArg_9 = %c_6, %iterArg_10 = %c_5, %iterArg_11 = %iterArg_4) : tensor<16x16xf32>, tensor<i32>, tensor<i32>, tensor<4x16xf32>
      cond {
        %c_12 = stablehlo.constant dense<3> : tensor<i32>
        %8 = stablehlo.compare LT, %iterArg_9, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %8 : tensor<i1>
      } do {
        %8:2 = func.call @closed_call(%iterArg_8, %iterArg_10, %iterArg_11) : (tensor<16x16xf32>, tensor<i32>, tensor<4x16xf32>) -> (tensor<i32>, tensor<4x16xf32>)
        %c_12 = stablehlo.constant dense<1> : tensor<i32>
        %9 = stablehlo.add %iterArg_9, %c_12 : tensor<i32>
        stablehlo.return %iterArg_8, %9, %8#0, %8#1 : tensor<16x16xf32>, tensor<i32>, tensor<i32>, tensor<4x16xf32>
      }
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_3, %c_7 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %7, %6#3 : tensor<i32>, tensor<16x16xf32>, tensor<i32>, tensor<4x16xf32>
    }
    %1 = stablehlo.iota dim = 0 : tensor<5xi32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %3 = stablehlo.subtract %1, %2 : tensor<5xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5:5 = stablehlo.while(%iterArg = %3, %iterArg_2 = %arg0, %iterArg_3 = %c_1, %iterArg_4 = %0#3, %iterArg_5 = %4) : tensor<5xi32>, tensor<16x16xf32>, tensor<i32>, tensor<4x16xf32>, tensor<5xf32>
    cond {
      %c_6 = stablehlo.constant dense<5> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<5xi32>, tensor<i32>) -> tensor<i32>
      %7:2 = func.call @closed_call_0(%iterArg_2, %iterArg_4, %6) : (tensor<16x16xf32>, tensor<4x16xf32>, tensor<i32>) -> (tensor<4x16xf32>, tensor<f32>)
      %8 = func.call @dynamic_update_index_in_dim(%iterArg_5, %7#1, %iterArg_3) : (tensor<5xf32>, tensor<f32>, tensor<i32>) -> tensor<5xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %9, %7#0, %8 : tensor<5xi32>, tensor<16x16xf32>, tensor<i32>, tensor<4x16xf32>, tensor<5xf32>
    }
    return %0#2, %5#3, %5#4 : tensor<i32>, tensor<4x16xf32>, tensor<5xf32>
  }
  func.func private @closed_call(%arg0: tensor<16x16xf32>, %arg1: tensor<i32>, %arg2: tensor<4x16xf32>) -> (tensor<i32>, tensor<4x16xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %2 = stablehlo.tanh %1 : tensor<4x16xf32>
    return %0, %2 : tensor<i32>, tensor<4x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<5xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call_0(%arg0: tensor<16x16xf32>, %arg1: tensor<4x16xf32>, %arg2: tensor<i32>) -> (tensor<4x16xf32>, tensor<f32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare GT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %0 : (tensor<i1>) -> tensor<i32>
    %2 = "stablehlo.case"(%1) ({
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
      %5 = stablehlo.multiply %arg1, %4 : tensor<4x16xf32>
      stablehlo.return %5 : tensor<4x16xf32>
    }, {
      %4 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
      stablehlo.return %4 : tensor<4x16xf32>
    }) : (tensor<i32>) -> tensor<4x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3 : tensor<4x16xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }
}
