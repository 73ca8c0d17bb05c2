module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<32x64xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x32xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<16x64xf32>
    %2 = call @relu(%1) : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %4 = stablehlo.compare GT, %1, %3, FLOAT : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xi1>
    %5:2 = sdy.manual_computation(%2, %arg1) in_shardings=[<@mesh, [{"data"}, {"model"}]>, <@mesh, [{"model"}, {}]>] out_shardings=[<@mesh, [{"data", "model"}]>, <@mesh, [{"data"}, {}]>] manual_axes={"data", "model"} (%arg3: tensor<8x16xf32>, %arg4: tensor<16x32xf32>) {
      %22 = stablehlo.dot_general %arg3, %arg4, contracting_dims = [1] x [0], precision [= DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      %23 = "stablehlo.all_reduce"(%22) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %44 = stablehlo.add %arg5, %arg6 : tensor<f32>
        stablehlo.return %44 : tensor<f32>
      }) : (tensor<8x32xf32>) -> tensor<8x32xf32>
      %24 = "stablehlo.all_gather"(%23) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<8x32xf32>) -> tensor<16x32xf32>
      %25 = "stablehlo.reduce_scatter"(%24) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %44 = stablehlo.add %arg5, %arg6 : tensor<f32>
        stablehlo.return %44 : tensor<f32>
      }) : (tensor<16x32xf32>) -> tensor<8x32xf32>
      %26 = "stablehlo.collective_permute"(%25) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]> : tensor<8x2xi64>}> : (tensor<8x32xf32>) -> tensor<6x32xf32>
      %27 = "stablehlo.all_to_all"(%26) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<8x32xf32>) -> tensor<32x8xf32>
      %28 = "stablehlo.all_to_all"(%27) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concaz_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<32x8xf32>) -> tensor<8x32xf32>
      %29 = "stablehlo.all_reduce"(%28) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %44 = stablehlo.maximum %arg5, %arg6 : tensor<f32>
        stablehlo.return %44 : tensor<f32>
      }) : (tensor<8x32xf32>) -> tensor<8x32xf32>
      %30 = stablehlo.add %29, %28 : tensor<8x32xf32>
      %c = stablehlo.constant dense<4> : tensor<ui32>
      %c_5 = stablehlo.constant dense<2> : tensor<ui32>
      %31 = stablehlo.partition_id : tensor<ui32>
      %32 = stablehlo.divide %31, %c : tensor<ui32>
      %33 = stablehlo.remainder %32, %c_5 : tensor<ui32>
      %34 = stablehlo.convert %33 : (tensor<ui32>) -> tensor<i32>
      %35 = stablehlo.convert %34 : (tensor<i32>) -> tensor<f32>
      %36 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %37 = stablehlo.add %30, %36 : tensor<8x32xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %38 = stablehlo.reduce(%28 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
      %39 = "stablehlo.all_reduce"(%38) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %44 = stablehlo.add %arg5, %arg6 : tensor<f32>
        stablehlo.return %44 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_7 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %40 = stablehlo.divide %39, %cst_7 : tensor<f32>
      %41 = stablehlo.broadcast_in_dim %40, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %42 = stablehlo.add %37, %41 : tensor<8x32xf32>
      %cst_8 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1xf32>
    stablehlo.scatter %42 : tensor<1xf32>, tensor<8x32xf32>
    } : (tensor<16x64xf32>, tensor<64x32xf32>) -> (tensor<8xf32>, tensor<16x32xf32>)
    %6 = stablehlo.multiply %5#1, %5#1 : tensor<16x32xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %8 = stablehlo.multiply %7, %5#1 : tensor<16x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %11 = stablehlo.multiply %10, %8 : tensor<16x32xf32>
    %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %13 = stablehlo.divide %11, %12 : tensor<16x32xf32>
    %14:2 = sdy.manual_computation(%13, %arg1, %2, %5#0) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{"model"}, {}]>, <@mesh, [{"data"}, {"model"}]>, <@mesh, [{"data", "model"}]>] out_shardings=[<@mesh, [{"data"}, {"model"}]>, <@mesh, [{"model"}, {}]>] manual_axes={"data", "model"} (%arg3: tensor<8x32xf32>, %arg4: tensor<16x32xf32>, %arg5: tensor<8x16xf32>, %arg6: tensor<1xf32>) {
      %22 = stablehlo.reshape %arg6 : (tensor<1xf32>) -> tensor<f32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %23 = stablehlo.reduce(%arg3 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
      %24 = stablehlo.divide %23, %22 : tensor<f32>
      %25 = "stablehlo.all_reduce"(%24) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %38 = stablehlo.add %arg7, %arg8 : tensor<f32>
        stablehlo.return %38 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
      %27 = stablehlo.add %arg3, %26 : tensor<8x32xf32>
      %28 = "stablehlo.all_to_all"(%27) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<8x32xf32>) -> tensor<32x8xf32>
      %29 = "stablehlo.all_to_all"(%28) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<32x8xf32>) -> tensor<8x32xf32>
      %30 = "stablehlo.collective_permute"(%29) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [0, 3], [5, 4], [6, 5], [7, 6], [4, 7]]> : tensor<8x2xi64>}> : (tensor<8x32xf32>) -> tensor<8x32xf32>
      %31 = "stablehlo.all_gather"(%30) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<8x32xf32>) -> tensor<16x32xf32>
      %32 = "stablehlo.reduce_scatter"(%31) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %38 = stablehlo.add %arg7, %arg8 : tensor<f32>
        stablehlo.return %38 : tensor<f32>
      }) : (tensor<16x32xf32>) -> tensor<8x32xf32>
      %33 = "stablehlo.all_reduce"(%32) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %38 = stablehlo.add %arg7, %arg8 : tensor<f32>
        stablehlo.return %38 : tensor<f32>
      }) : (tensor<8x32xf32>) -> tensor<8x32xf32>
      %34 = stablehlo.dot_general %33, %arg5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
      %35 = stablehlo.transpose %34, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
      %36 = stablehlo.dot_general. %33, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
      %37 = "stablehlo.all_reduce"(%35) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %38 = stablehlo.add %arg7, %arg8 : tensor<f32>
        stablehlo.return %38 : tensor<f32>
      }) : (tensor<16x32xf32>) -> tensor<16x32xf32>
      sdy.return %36, %37 : tensor<8x16xf32>, tensor<16x32xf32>
    } : (tensor<16x32xf32>, tensor<64x32xf32>, tensor<16x64xf32>, tensor<8xf32>) -> (tensor<16x64xf32>, tensor<64x32xf32>)
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %16 = stablehlo.select %4, %14#0, %15 : tensor<16x64xi1>, tensor<16x64xf32>
    %17 = sdy.sharding_constraint %16 <@mesh, [{"data"}, {"model"}]> : tensor<16x64xf32>
    %18 = stablehlo.dot_general %17, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x64xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
    %19 = stablehlo.transpose %18, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %20 = stablehlo.subtract %arg0, %19 : tensor<32x64xf32>
    %21 = stablehlo.subtract %arg1, %14#1 : tensor<64x32xf32>
    return %20, %21, %9 : tensor<32x64xf32>, tensor<64x32xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x64xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x64xf32>
    return %1 : tensor<16x64xf32>
  }
}
