"builtin.module"() <{sym_name = "jit_train_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {tf.aliasing_output = 3 : i32}, {tf.aliasing_output = 4 : i32}, {tf.aliasing_output = 5 : i32}, {tf.aliasing_output = 6 : i32}, {tf.aliasing_output = 7 : i32}, {tf.aliasing_output = 8 : i32}, {tf.aliasing_output = 9 : i32}, {tf.aliasing_output = 10 : i32}, {tf.aliasing_output = 11 : i32}, {tf.aliasing_output = 12 : i32}, {tf.aliasing_output = 13 : i32}, {tf.aliasing_output = 14 : i32}, {tf.aliasing_output = 15 : i32}, {tf.aliasing_output = 16 : i32}, {tf.aliasing_output = 17 : i32}, {tf.aliasing_output = 18 : i32}, {tf.aliasing_output = 19 : i32}, {tf.aliasing_output = 20 : i32}, {tf.aliasing_output = 21 : i32}, {tf.aliasing_output = 22 : i32}, {tf.aliasing_output = 23 : i32}, {tf.aliasing_output = 24 : i32}, {tf.aliasing_output = 25 : i32}, {tf.aliasing_output = 26 : i32}, {tf.aliasing_output = 27 : i32}, {tf.aliasing_output = 28 : i32}, {tf.aliasing_output = 29 : i32}, {tf.aliasing_output = 30 : i32}, {tf.aliasing_output = 31 : i32}, {}, {}], function_type = (tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<2x2x32x16xf32>, tensor<16xf32>, tensor<3x3x3x16xf32>, tensor<32xf32>, tensor<3x3x16x32xf32>, tensor<10xf32>, tensor<16x10xf32>, tensor<32xf32>, tensor<3x3x1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<2x2x32x16xf32>, tensor<16xf32>, tensor<3x3x3x16xf32>, tensor<32xf32>, tensor<3x3x16x32xf32>, tensor<10xf32>, tensor<16x10xf32>, tensor<32xf32>, tensor<3x3x1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32x32x3xf32>, tensor<32xi32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<2x2x32x16xf32>, tensor<16xf32>, tensor<3x3x3x16xf32>, tensor<32xf32>, tensor<3x3x16x32xf32>, tensor<10xf32>, tensor<16x10xf32>, tensor<32xf32>, tensor<3x3x1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<2x2x32x16xf32>, tensor<16xf32>, tensor<3x3x3x16xf32>, tensor<32xf32>, tensor<3x3x16x32xf32>, tensor<10xf32>, tensor<16x10xf32>, tensor<32xf32>, tensor<3x3x1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['BatchNorm_0']['bias']"}, {jax.result_info = "result[0]['BatchNorm_0']['scale']"}, {jax.result_info = "result[0]['BatchNorm_1']['bias']"}, {jax.result_info = "result[0]['BatchNorm_1']['scale']"}, {jax.result_info = "result[0]['ConvTranspose_0']['bias']"}, {jax.result_info = "result[0]['ConvTranspose_0']['kernel']"}, {jax.result_info = "result[0]['Conv_0']['bias']"}, {jax.result_info = "result[0]['Conv_0']['kernel']"}, {jax.result_info = "result[0]['Conv_1']['bias']"}, {jax.result_info = "result[0]['Conv_1']['kernel']"}, {jax.result_info = "result[0]['Dense_0']['bias']"}, {jax.result_info = "result[0]['Dense_0']['kernel']"}, {jax.result_info = "result[0]['dw']['bias']"}, {jax.result_info = "result[0]['dw']['kernel']"}, {jax.result_info = "result[1][0].trace['BatchNorm_0']['bias']"}, {jax.result_info = "result[1][0].trace['BatchNorm_0']['scale']"}, {jax.result_info = "result[1][0].trace['BatchNorm_1']['bias']"}, {jax.result_info = "result[1][0].trace['BatchNorm_1']['scale']"}, {jax.result_info = "result[1][0].trace['ConvTranspose_0']['bias']"}, {jax.result_info = "result[1][0].trace['ConvTranspose_0']['kernel']"}, {jax.result_info = "result[1][0].trace['Conv_0']['bias']"}, {jax.result_info = "result[1][0].trace['Conv_0']['kernel']"}, {jax.result_info = "result[1][0].trace['Conv_1']['bias']"}, {jax.result_info = "result[1][0].trace['Conv_1']['kernel']"}, {jax.result_info = "result[1][0].trace['Dense_0']['bias']"}, {jax.result_info = "result[1][0].trace['Dense_0']['kernel']"}, {jax.result_info = "result[1][0].trace['dw']['bias']"}, {jax.result_info = "result[1][0].trace['dw']['kernel']"}, {jax.result_info = "result[2]['batch_stats']['BatchNorm_0']['mean']"}, {jax.result_info = "result[2]['batch_stats']['BatchNorm_0']['var']"}, {jax.result_info = "result[2]['batch_stats']['BatchNorm_1']['mean']"}, {jax.result_info = "result[2]['batch_stats']['BatchNorm_1']['var']"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg21: tensor<16xf32>, %arg22: tensor<16xf32>, %arg23: tensor<32xf32>, %arg24: tensor<32xf32>, %arg25: tensor<16xf32>, %arg26: tensor<2x2x32x16xf32>, %arg27: tensor<16xf32>, %arg28: tensor<3x3x3x16xf32>, %arg29: tensor<32xf32>, %arg30: tensor<3x3x16x32xf32>, %arg31: tensor<10xf32>, %arg32: tensor<16x10xf32>, %arg33: tensor<32xf32>, %arg34: tensor<3x3x1x32xf32>, %arg35: tensor<16xf32>, %arg36: tensor<16xf32>, %arg37: tensor<32xf32>, %arg38: tensor<32xf32>, %arg39: tensor<16xf32>, %arg40: tensor<2x2x32x16xf32>, %arg41: tensor<16xf32>, %arg42: tensor<3x3x3x16xf32>, %arg43: tensor<32xf32>, %arg44: tensor<3x3x16x32xf32>, %arg45: tensor<10xf32>, %arg46: tensor<16x10xf32>, %arg47: tensor<32xf32>, %arg48: tensor<3x3x1x32xf32>, %arg49: tensor<16xf32>, %arg50: tensor<16xf32>, %arg51: tensor<32xf32>, %arg52: tensor<32xf32>, %arg53: tensor<32x32x32x3xf32>, %arg54: tensor<32xi32>):
    %59 = "stablehlo.convolution"(%arg53, %arg28) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x32x32x3xf32>, tensor<3x3x3x16xf32>) -> tensor<32x32x32x16xf32>
    %60 = "stablehlo.reshape"(%arg27) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<32x32x32x16xf32>
    %62 = "stablehlo.add"(%59, %61) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %63 = "chlo.square"(%62) : (tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %64 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32x32x16xf32>
    %66 = "stablehlo.multiply"(%65, %62) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %67 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %68 = "stablehlo.reduce"(%62, %67) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg115: tensor<f32>, %arg116: tensor<f32>):
      %627 = "stablehlo.add"(%arg115, %arg116) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%627) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %69 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %71 = "stablehlo.divide"(%68, %70) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %72 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %73 = "stablehlo.reduce"(%63, %72) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg113: tensor<f32>, %arg114: tensor<f32>):
      %626 = "stablehlo.add"(%arg113, %arg114) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%626) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %74 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %75 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %76 = "stablehlo.divide"(%73, %75) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %77 = "chlo.square"(%71) : (tensor<16xf32>) -> tensor<16xf32>
    %78 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %80 = "stablehlo.multiply"(%79, %71) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %81 = "stablehlo.subtract"(%76, %77) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %82 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %84 = "stablehlo.maximum"(%83, %81) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %85 = "stablehlo.compare"(%81, %84) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %86 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %88 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %90 = "stablehlo.select"(%85, %87, %89) : (tensor<16xi1>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %91 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %93 = "stablehlo.compare"(%92, %84) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %94 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %96 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %97 = "stablehlo.broadcast_in_dim"(%96) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %98 = "stablehlo.select"(%93, %95, %97) : (tensor<16xi1>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %99 = "stablehlo.divide"(%90, %98) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %100 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %102 = "stablehlo.multiply"(%101, %arg49) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %103 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %105 = "stablehlo.multiply"(%104, %71) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %106 = "stablehlo.add"(%102, %105) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %107 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %108 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %109 = "stablehlo.multiply"(%108, %arg50) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %110 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %112 = "stablehlo.multiply"(%111, %84) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %113 = "stablehlo.add"(%109, %112) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %114 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %115 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %116 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<32x32x32x16xf32>
    %117 = "stablehlo.subtract"(%62, %116) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %118 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %119 = "stablehlo.broadcast_in_dim"(%118) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x16xf32>
    %120 = "stablehlo.add"(%115, %119) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %121 = "stablehlo.rsqrt"(%120) : (tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %122 = "stablehlo.divide"(%121, %120) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %123 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %124 = "stablehlo.broadcast_in_dim"(%123) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x16xf32>
    %125 = "stablehlo.multiply"(%124, %122) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %126 = "stablehlo.reshape"(%arg22) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %127 = "stablehlo.multiply"(%121, %126) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %128 = "stablehlo.broadcast_in_dim"(%127) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<32x32x32x16xf32>
    %129 = "stablehlo.multiply"(%117, %128) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %130 = "stablehlo.reshape"(%arg21) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %131 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<32x32x32x16xf32>
    %132 = "stablehlo.add"(%129, %131) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %133 = "func.call"(%132) <{callee = @relu}> : (tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %134 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.broadcast_in_dim"(%134) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32x32x16xf32>
    %136 = "stablehlo.compare"(%132, %135) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xi1>
    %137 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %138 = "stablehlo.broadcast_in_dim"(%137) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %139 = "stablehlo.reduce_window"(%133, %138) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg111: tensor<f32>, %arg112: tensor<f32>):
      %625 = "stablehlo.maximum"(%arg111, %arg112) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%625) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<32x16x16x16xf32>
    %140 = "stablehlo.convolution"(%139, %arg30) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x16x16x16xf32>, tensor<3x3x16x32xf32>) -> tensor<32x16x16x32xf32>
    %141 = "stablehlo.reshape"(%arg29) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %142 = "stablehlo.broadcast_in_dim"(%141) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<32x16x16x32xf32>
    %143 = "stablehlo.add"(%140, %142) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %144 = "chlo.square"(%143) : (tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %145 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %146 = "stablehlo.broadcast_in_dim"(%145) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x16x32xf32>
    %147 = "stablehlo.multiply"(%146, %143) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %148 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %149 = "stablehlo.reduce"(%143, %148) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg109: tensor<f32>, %arg110: tensor<f32>):
      %624 = "stablehlo.add"(%arg109, %arg110) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%624) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %150 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %151 = "stablehlo.broadcast_in_dim"(%150) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %152 = "stablehlo.divide"(%149, %151) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %153 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.reduce"(%144, %153) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg107: tensor<f32>, %arg108: tensor<f32>):
      %623 = "stablehlo.add"(%arg107, %arg108) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%623) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %155 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %156 = "stablehlo.broadcast_in_dim"(%155) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %157 = "stablehlo.divide"(%154, %156) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %158 = "chlo.square"(%152) : (tensor<32xf32>) -> tensor<32xf32>
    %159 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %160 = "stablehlo.broadcast_in_dim"(%159) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %161 = "stablehlo.multiply"(%160, %152) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %162 = "stablehlo.subtract"(%157, %158) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %163 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %165 = "stablehlo.maximum"(%164, %162) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %166 = "stablehlo.compare"(%162, %165) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %167 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %168 = "stablehlo.broadcast_in_dim"(%167) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %169 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %171 = "stablehlo.select"(%166, %168, %170) : (tensor<32xi1>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %172 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %173 = "stablehlo.broadcast_in_dim"(%172) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %174 = "stablehlo.compare"(%173, %165) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %175 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %176 = "stablehlo.broadcast_in_dim"(%175) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %177 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %178 = "stablehlo.broadcast_in_dim"(%177) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %179 = "stablehlo.select"(%174, %176, %178) : (tensor<32xi1>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %180 = "stablehlo.divide"(%171, %179) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %181 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %182 = "stablehlo.broadcast_in_dim"(%181) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %183 = "stablehlo.multiply"(%182, %arg51) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %184 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %185 = "stablehlo.broadcast_in_dim"(%184) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %186 = "stablehlo.multiply"(%185, %152) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %187 = "stablehlo.add"(%183, %186) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %188 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %189 = "stablehlo.broadcast_in_dim"(%188) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %190 = "stablehlo.multiply"(%189, %arg52) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %191 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %192 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %193 = "stablehlo.multiply"(%192, %165) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %194 = "stablehlo.add"(%190, %193) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %195 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64: 3>}> : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %196 = "stablehlo.broadcast_in_dim"(%165) <{broadcast_dimensions = array<i64: 3>}> : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %197 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<32x16x16x32xf32>
    %198 = "stablehlo.subtract"(%143, %197) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %199 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %200 = "stablehlo.broadcast_in_dim"(%199) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x32xf32>
    %201 = "stablehlo.add"(%196, %200) : (tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %202 = "stablehlo.rsqrt"(%201) : (tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %203 = "stablehlo.divide"(%202, %201) : (tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %204 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %205 = "stablehlo.broadcast_in_dim"(%204) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x32xf32>
    %206 = "stablehlo.multiply"(%205, %203) : (tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %207 = "stablehlo.reshape"(%arg24) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %208 = "stablehlo.multiply"(%202, %207) : (tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %209 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<32x16x16x32xf32>
    %210 = "stablehlo.multiply"(%198, %209) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %211 = "stablehlo.reshape"(%arg23) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %212 = "stablehlo.broadcast_in_dim"(%211) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<32x16x16x32xf32>
    %213 = "stablehlo.add"(%210, %212) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %214 = "func.call"(%213) <{callee = @relu_0}> : (tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %215 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %216 = "stablehlo.broadcast_in_dim"(%215) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x16x32xf32>
    %217 = "stablehlo.compare"(%213, %216) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xi1>
    %218 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %219 = "stablehlo.broadcast_in_dim"(%218) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %220 = "stablehlo.reduce_window"(%214, %219) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg105: tensor<f32>, %arg106: tensor<f32>):
      %622 = "stablehlo.maximum"(%arg105, %arg106) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%622) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32x8x8x32xf32>
    %221 = "stablehlo.convolution"(%220, %arg34) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 32 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x8x8x32xf32>, tensor<3x3x1x32xf32>) -> tensor<32x8x8x32xf32>
    %222 = "stablehlo.reshape"(%arg33) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %223 = "stablehlo.broadcast_in_dim"(%222) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<32x8x8x32xf32>
    %224 = "stablehlo.add"(%221, %223) : (tensor<32x8x8x32xf32>, tensor<32x8x8x32xf32>) -> tensor<32x8x8x32xf32>
    %225 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %226 = "stablehlo.broadcast_in_dim"(%225) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %227 = "stablehlo.reduce_window"(%224, %226) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg103: tensor<f32>, %arg104: tensor<f32>):
      %621 = "stablehlo.add"(%arg103, %arg104) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%621) : (tensor<f32>) -> ()
    }) : (tensor<32x8x8x32xf32>, tensor<f32>) -> tensor<32x4x4x32xf32>
    %228 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %229 = "stablehlo.broadcast_in_dim"(%228) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4x4x32xf32>
    %230 = "stablehlo.divide"(%227, %229) : (tensor<32x4x4x32xf32>, tensor<32x4x4x32xf32>) -> tensor<32x4x4x32xf32>
    %231 = "stablehlo.convolution"(%230, %arg26) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x4x4x32xf32>, tensor<2x2x32x16xf32>) -> tensor<32x8x8x16xf32>
    %232 = "stablehlo.reshape"(%arg25) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %233 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<32x8x8x16xf32>
    %234 = "stablehlo.add"(%231, %233) : (tensor<32x8x8x16xf32>, tensor<32x8x8x16xf32>) -> tensor<32x8x8x16xf32>
    %235 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %236 = "stablehlo.reduce"(%234, %235) <{dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg101: tensor<f32>, %arg102: tensor<f32>):
      %620 = "stablehlo.add"(%arg101, %arg102) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%620) : (tensor<f32>) -> ()
    }) : (tensor<32x8x8x16xf32>, tensor<f32>) -> tensor<32x16xf32>
    %237 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %238 = "stablehlo.broadcast_in_dim"(%237) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16xf32>
    %239 = "stablehlo.divide"(%236, %238) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
    %240 = "stablehlo.dot_general"(%239, %arg32) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<32x16xf32>, tensor<16x10xf32>) -> tensor<32x10xf32>
    %241 = "stablehlo.reshape"(%arg31) : (tensor<10xf32>) -> tensor<1x10xf32>
    %242 = "stablehlo.broadcast_in_dim"(%241) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x10xf32>) -> tensor<32x10xf32>
    %243 = "stablehlo.add"(%240, %242) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %244 = "stablehlo.broadcast_in_dim"(%arg54) <{broadcast_dimensions = array<i64: 0>}> : (tensor<32xi32>) -> tensor<32x1xi32>
    %245:2 = "func.call"(%243, %244) <{callee = @take_along_axis}> : (tensor<32x10xf32>, tensor<32x1xi32>) -> (tensor<32x1xf32>, tensor<32x1x1xi32>)
    %246 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %247:2 = "func.call"(%245#0, %246) <{callee = @_take}> : (tensor<32x1xf32>, tensor<i32>) -> (tensor<32xf32>, tensor<1xi32>)
    %248 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %249 = "stablehlo.reduce"(%243, %248) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg99: tensor<f32>, %arg100: tensor<f32>):
      %619 = "stablehlo.maximum"(%arg99, %arg100) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%619) : (tensor<f32>) -> ()
    }) : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %250 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %251 = "stablehlo.broadcast_in_dim"(%250) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %252 = "stablehlo.maximum"(%251, %249) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %253 = "stablehlo.is_finite"(%252) : (tensor<32xf32>) -> tensor<32xi1>
    %254 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %255 = "stablehlo.broadcast_in_dim"(%254) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %256 = "stablehlo.select"(%253, %252, %255) : (tensor<32xi1>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %257 = "stablehlo.broadcast_in_dim"(%256) <{broadcast_dimensions = array<i64: 0>}> : (tensor<32xf32>) -> tensor<32x1xf32>
    %258 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %259 = "stablehlo.subtract"(%243, %258) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %260 = "stablehlo.exponential"(%259) : (tensor<32x10xf32>) -> tensor<32x10xf32>
    %261 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %262 = "stablehlo.reduce"(%260, %261) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg97: tensor<f32>, %arg98: tensor<f32>):
      %618 = "stablehlo.add"(%arg97, %arg98) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%618) : (tensor<f32>) -> ()
    }) : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %263 = "stablehlo.abs"(%262) : (tensor<32xf32>) -> tensor<32xf32>
    %264 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %265 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %266 = "stablehlo.compare"(%262, %265) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %267 = "stablehlo.log"(%263) : (tensor<32xf32>) -> tensor<32xf32>
    %268 = "stablehlo.add"(%267, %256) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %269 = "stablehlo.subtract"(%268, %247#0) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %270 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %271 = "stablehlo.reduce"(%269, %270) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg95: tensor<f32>, %arg96: tensor<f32>):
      %617 = "stablehlo.add"(%arg95, %arg96) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%617) : (tensor<f32>) -> ()
    }) : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %272 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %273 = "stablehlo.divide"(%271, %272) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %274 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %275 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %276 = "stablehlo.divide"(%274, %275) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %277 = "stablehlo.broadcast_in_dim"(%276) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %278 = "stablehlo.negate"(%277) : (tensor<32xf32>) -> tensor<32xf32>
    %279 = "stablehlo.divide"(%277, %263) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %280 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %281 = "stablehlo.broadcast_in_dim"(%280) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %282 = "stablehlo.select"(%266, %281, %279) : (tensor<32xi1>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %283 = "stablehlo.select"(%266, %279, %281) : (tensor<32xi1>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %284 = "stablehlo.negate"(%282) : (tensor<32xf32>) -> tensor<32xf32>
    %285 = "stablehlo.add"(%283, %284) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %286 = "stablehlo.broadcast_in_dim"(%285) <{broadcast_dimensions = array<i64: 0>}> : (tensor<32xf32>) -> tensor<32x10xf32>
    %287 = "stablehlo.multiply"(%286, %260) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %288 = "func.call"(%247#1, %278) <{callee = @_take_1}> : (tensor<1xi32>, tensor<32xf32>) -> tensor<32x1xf32>
    %289 = "func.call"(%245#1, %288) <{callee = @take_along_axis_2}> : (tensor<32x1x1xi32>, tensor<32x1xf32>) -> tensor<32x10xf32>
    %290 = "stablehlo.add"(%287, %289) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %291 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %292 = "stablehlo.reduce"(%290, %291) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg93: tensor<f32>, %arg94: tensor<f32>):
      %616 = "stablehlo.add"(%arg93, %arg94) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%616) : (tensor<f32>) -> ()
    }) : (tensor<32x10xf32>, tensor<f32>) -> tensor<10xf32>
    %293 = "stablehlo.reshape"(%292) : (tensor<10xf32>) -> tensor<1x10xf32>
    %294 = "stablehlo.reshape"(%293) : (tensor<1x10xf32>) -> tensor<10xf32>
    %295 = "stablehlo.dot_general"(%290, %239) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<32x10xf32>, tensor<32x16xf32>) -> tensor<10x16xf32>
    %296 = "stablehlo.transpose"(%295) <{permutation = array<i64: 1, 0>}> : (tensor<10x16xf32>) -> tensor<16x10xf32>
    %297 = "stablehlo.dot_general"(%290, %arg32) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<32x10xf32>, tensor<16x10xf32>) -> tensor<32x16xf32>
    %298 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %299 = "stablehlo.broadcast_in_dim"(%298) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16xf32>
    %300 = "stablehlo.divide"(%297, %299) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
    %301 = "stablehlo.broadcast_in_dim"(%300) <{broadcast_dimensions = array<i64: 0, 3>}> : (tensor<32x16xf32>) -> tensor<32x8x8x16xf32>
    %302 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %303 = "stablehlo.reduce"(%301, %302) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg91: tensor<f32>, %arg92: tensor<f32>):
      %615 = "stablehlo.add"(%arg91, %arg92) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%615) : (tensor<f32>) -> ()
    }) : (tensor<32x8x8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %304 = "stablehlo.reshape"(%303) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %305 = "stablehlo.reshape"(%304) : (tensor<1x1x1x16xf32>) -> tensor<16xf32>
    %306 = "stablehlo.convolution"(%230, %301) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x4x4x32xf32>, tensor<32x8x8x16xf32>) -> tensor<2x2x32x16xf32>
    %307 = "stablehlo.reverse"(%arg26) <{dimensions = array<i64: 0, 1>}> : (tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
    %308 = "stablehlo.convolution"(%301, %307) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 2>}> : (tensor<32x8x8x16xf32>, tensor<2x2x32x16xf32>) -> tensor<32x4x4x32xf32>
    %309 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %310 = "stablehlo.broadcast_in_dim"(%309) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4x4x32xf32>
    %311 = "stablehlo.divide"(%308, %310) : (tensor<32x4x4x32xf32>, tensor<32x4x4x32xf32>) -> tensor<32x4x4x32xf32>
    %312 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %313 = "stablehlo.pad"(%311, %312) <{edge_padding_high = array<i64: 0, 1, 1, 0>, edge_padding_low = array<i64: 0, 1, 1, 0>, interior_padding = array<i64: 0, 1, 1, 0>}> : (tensor<32x4x4x32xf32>, tensor<f32>) -> tensor<32x9x9x32xf32>
    %314 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %315 = "stablehlo.broadcast_in_dim"(%314) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %316 = "stablehlo.reduce_window"(%313, %315) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
    ^bb0(%arg89: tensor<f32>, %arg90: tensor<f32>):
      %614 = "stablehlo.add"(%arg89, %arg90) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%614) : (tensor<f32>) -> ()
    }) : (tensor<32x9x9x32xf32>, tensor<f32>) -> tensor<32x8x8x32xf32>
    %317 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %318 = "stablehlo.reduce"(%316, %317) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg87: tensor<f32>, %arg88: tensor<f32>):
      %613 = "stablehlo.add"(%arg87, %arg88) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%613) : (tensor<f32>) -> ()
    }) : (tensor<32x8x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %319 = "stablehlo.reshape"(%318) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %320 = "stablehlo.reshape"(%319) : (tensor<1x1x1x32xf32>) -> tensor<32xf32>
    %321 = "stablehlo.convolution"(%220, %316) <{batch_group_count = 32 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x8x8x32xf32>, tensor<32x8x8x32xf32>) -> tensor<3x3x1x32xf32>
    %322 = "stablehlo.reshape"(%arg34) : (tensor<3x3x1x32xf32>) -> tensor<3x3x1x32x1xf32>
    %323 = "stablehlo.transpose"(%322) <{permutation = array<i64: 0, 1, 3, 2, 4>}> : (tensor<3x3x1x32x1xf32>) -> tensor<3x3x32x1x1xf32>
    %324 = "stablehlo.reshape"(%323) : (tensor<3x3x32x1x1xf32>) -> tensor<3x3x32x1xf32>
    %325 = "stablehlo.reverse"(%324) <{dimensions = array<i64: 0, 1>}> : (tensor<3x3x32x1xf32>) -> tensor<3x3x32x1xf32>
    %326 = "stablehlo.convolution"(%316, %325) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 32 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x8x8x32xf32>, tensor<3x3x32x1xf32>) -> tensor<32x8x8x32xf32>
    %327 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %328 = "stablehlo.pad"(%214, %327) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32x16x16x32xf32>
    %329 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %330 = "stablehlo.select_and_scatter"(%328, %326, %329) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg85: tensor<f32>, %arg86: tensor<f32>):
      %612 = "stablehlo.compare"(%arg85, %arg86) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%612) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg83: tensor<f32>, %arg84: tensor<f32>):
      %611 = "stablehlo.add"(%arg83, %arg84) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%611) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<32x8x8x32xf32>, tensor<f32>) -> tensor<32x16x16x32xf32>
    %331 = "stablehlo.slice"(%330) <{limit_indices = array<i64: 32, 16, 16, 32>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %332 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %333 = "stablehlo.broadcast_in_dim"(%332) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x16x32xf32>
    %334 = "stablehlo.select"(%217, %331, %333) : (tensor<32x16x16x32xi1>, tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %335 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %336 = "stablehlo.reduce"(%334, %335) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg81: tensor<f32>, %arg82: tensor<f32>):
      %610 = "stablehlo.add"(%arg81, %arg82) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%610) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %337 = "stablehlo.reshape"(%336) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %338 = "stablehlo.reshape"(%337) : (tensor<1x1x1x32xf32>) -> tensor<32xf32>
    %339 = "stablehlo.multiply"(%198, %334) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %340 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %341 = "stablehlo.reduce"(%339, %340) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg79: tensor<f32>, %arg80: tensor<f32>):
      %609 = "stablehlo.add"(%arg79, %arg80) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%609) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %342 = "stablehlo.reshape"(%341) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %343 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<32x16x16x32xf32>
    %344 = "stablehlo.multiply"(%334, %343) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %345 = "stablehlo.multiply"(%202, %342) : (tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %346 = "stablehlo.multiply"(%342, %207) : (tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %347 = "stablehlo.reshape"(%345) : (tensor<1x1x1x32xf32>) -> tensor<32xf32>
    %348 = "stablehlo.multiply"(%346, %206) : (tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x1x1x32xf32>
    %349 = "stablehlo.negate"(%344) : (tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %350 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %351 = "stablehlo.reduce"(%349, %350) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg77: tensor<f32>, %arg78: tensor<f32>):
      %608 = "stablehlo.add"(%arg77, %arg78) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%608) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %352 = "stablehlo.reshape"(%351) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %353 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %354 = "stablehlo.reduce"(%348, %353) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg75: tensor<f32>, %arg76: tensor<f32>):
      %607 = "stablehlo.add"(%arg75, %arg76) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%607) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %355 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %356 = "stablehlo.reduce"(%352, %355) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg73: tensor<f32>, %arg74: tensor<f32>):
      %606 = "stablehlo.add"(%arg73, %arg74) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%606) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %357 = "stablehlo.multiply"(%354, %180) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %358 = "stablehlo.negate"(%357) : (tensor<32xf32>) -> tensor<32xf32>
    %359 = "stablehlo.multiply"(%358, %161) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %360 = "stablehlo.add"(%356, %359) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %361 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %362 = "stablehlo.broadcast_in_dim"(%361) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %363 = "stablehlo.divide"(%357, %362) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %364 = "stablehlo.broadcast_in_dim"(%363) <{broadcast_dimensions = array<i64: 3>}> : (tensor<32xf32>) -> tensor<32x16x16x32xf32>
    %365 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %366 = "stablehlo.broadcast_in_dim"(%365) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %367 = "stablehlo.divide"(%360, %366) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %368 = "stablehlo.broadcast_in_dim"(%367) <{broadcast_dimensions = array<i64: 3>}> : (tensor<32xf32>) -> tensor<32x16x16x32xf32>
    %369 = "stablehlo.add"(%344, %368) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %370 = "stablehlo.multiply"(%364, %147) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %371 = "stablehlo.add"(%369, %370) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    %372 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %373 = "stablehlo.reduce"(%371, %372) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg71: tensor<f32>, %arg72: tensor<f32>):
      %605 = "stablehlo.add"(%arg71, %arg72) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%605) : (tensor<f32>) -> ()
    }) : (tensor<32x16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %374 = "stablehlo.reshape"(%373) : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %375 = "stablehlo.reshape"(%374) : (tensor<1x1x1x32xf32>) -> tensor<32xf32>
    %376 = "stablehlo.convolution"(%139, %371) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x16x16x16xf32>, tensor<32x16x16x32xf32>) -> tensor<3x3x16x32xf32>
    %377 = "stablehlo.reverse"(%arg30) <{dimensions = array<i64: 0, 1>}> : (tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %378 = "stablehlo.convolution"(%371, %377) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x16x16x32xf32>, tensor<3x3x16x32xf32>) -> tensor<32x16x16x16xf32>
    %379 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %380 = "stablehlo.pad"(%133, %379) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<32x32x32x16xf32>
    %381 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %382 = "stablehlo.select_and_scatter"(%380, %378, %381) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg69: tensor<f32>, %arg70: tensor<f32>):
      %604 = "stablehlo.compare"(%arg69, %arg70) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%604) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg67: tensor<f32>, %arg68: tensor<f32>):
      %603 = "stablehlo.add"(%arg67, %arg68) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%603) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<32x16x16x16xf32>, tensor<f32>) -> tensor<32x32x32x16xf32>
    %383 = "stablehlo.slice"(%382) <{limit_indices = array<i64: 32, 32, 32, 16>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %384 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %385 = "stablehlo.broadcast_in_dim"(%384) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32x32x16xf32>
    %386 = "stablehlo.select"(%136, %383, %385) : (tensor<32x32x32x16xi1>, tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %387 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %388 = "stablehlo.reduce"(%386, %387) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg65: tensor<f32>, %arg66: tensor<f32>):
      %602 = "stablehlo.add"(%arg65, %arg66) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%602) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %389 = "stablehlo.reshape"(%388) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %390 = "stablehlo.reshape"(%389) : (tensor<1x1x1x16xf32>) -> tensor<16xf32>
    %391 = "stablehlo.multiply"(%117, %386) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %392 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %393 = "stablehlo.reduce"(%391, %392) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg63: tensor<f32>, %arg64: tensor<f32>):
      %601 = "stablehlo.add"(%arg63, %arg64) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%601) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %394 = "stablehlo.reshape"(%393) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %395 = "stablehlo.broadcast_in_dim"(%127) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<32x32x32x16xf32>
    %396 = "stablehlo.multiply"(%386, %395) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %397 = "stablehlo.multiply"(%121, %394) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %398 = "stablehlo.multiply"(%394, %126) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %399 = "stablehlo.reshape"(%397) : (tensor<1x1x1x16xf32>) -> tensor<16xf32>
    %400 = "stablehlo.multiply"(%398, %125) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %401 = "stablehlo.negate"(%396) : (tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %402 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %403 = "stablehlo.reduce"(%401, %402) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg61: tensor<f32>, %arg62: tensor<f32>):
      %600 = "stablehlo.add"(%arg61, %arg62) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%600) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %404 = "stablehlo.reshape"(%403) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %405 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %406 = "stablehlo.reduce"(%400, %405) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg59: tensor<f32>, %arg60: tensor<f32>):
      %599 = "stablehlo.add"(%arg59, %arg60) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%599) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %407 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %408 = "stablehlo.reduce"(%404, %407) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg57: tensor<f32>, %arg58: tensor<f32>):
      %598 = "stablehlo.add"(%arg57, %arg58) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%598) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %409 = "stablehlo.multiply"(%406, %99) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %410 = "stablehlo.negate"(%409) : (tensor<16xf32>) -> tensor<16xf32>
    %411 = "stablehlo.multiply"(%410, %80) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %412 = "stablehlo.add"(%408, %411) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %413 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %414 = "stablehlo.broadcast_in_dim"(%413) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %415 = "stablehlo.divide"(%409, %414) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %416 = "stablehlo.broadcast_in_dim"(%415) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<32x32x32x16xf32>
    %417 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %418 = "stablehlo.broadcast_in_dim"(%417) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %419 = "stablehlo.divide"(%412, %418) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %420 = "stablehlo.broadcast_in_dim"(%419) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<32x32x32x16xf32>
    %421 = "stablehlo.add"(%396, %420) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %422 = "stablehlo.multiply"(%416, %66) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %423 = "stablehlo.add"(%421, %422) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    %424 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %425 = "stablehlo.reduce"(%423, %424) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg55: tensor<f32>, %arg56: tensor<f32>):
      %597 = "stablehlo.add"(%arg55, %arg56) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%597) : (tensor<f32>) -> ()
    }) : (tensor<32x32x32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %426 = "stablehlo.reshape"(%425) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %427 = "stablehlo.reshape"(%426) : (tensor<1x1x1x16xf32>) -> tensor<16xf32>
    %428 = "stablehlo.convolution"(%arg53, %423) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<32x32x32x3xf32>, tensor<32x32x32x16xf32>) -> tensor<3x3x3x16xf32>
    %429 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %430 = "stablehlo.broadcast_in_dim"(%429) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %431 = "stablehlo.multiply"(%430, %arg35) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %432 = "stablehlo.add"(%390, %431) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %433 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %434 = "stablehlo.broadcast_in_dim"(%433) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %435 = "stablehlo.multiply"(%434, %arg36) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %436 = "stablehlo.add"(%399, %435) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %437 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %438 = "stablehlo.broadcast_in_dim"(%437) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %439 = "stablehlo.multiply"(%438, %arg37) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %440 = "stablehlo.add"(%338, %439) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %441 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %442 = "stablehlo.broadcast_in_dim"(%441) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %443 = "stablehlo.multiply"(%442, %arg38) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %444 = "stablehlo.add"(%347, %443) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %445 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %446 = "stablehlo.broadcast_in_dim"(%445) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %447 = "stablehlo.multiply"(%446, %arg39) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %448 = "stablehlo.add"(%305, %447) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %449 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %450 = "stablehlo.broadcast_in_dim"(%449) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x32x16xf32>
    %451 = "stablehlo.multiply"(%450, %arg40) : (tensor<2x2x32x16xf32>, tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
    %452 = "stablehlo.add"(%306, %451) : (tensor<2x2x32x16xf32>, tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
    %453 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %454 = "stablehlo.broadcast_in_dim"(%453) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %455 = "stablehlo.multiply"(%454, %arg41) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %456 = "stablehlo.add"(%427, %455) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %457 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %458 = "stablehlo.broadcast_in_dim"(%457) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x3x16xf32>
    %459 = "stablehlo.multiply"(%458, %arg42) : (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %460 = "stablehlo.add"(%428, %459) : (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %461 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %462 = "stablehlo.broadcast_in_dim"(%461) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %463 = "stablehlo.multiply"(%462, %arg43) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %464 = "stablehlo.add"(%375, %463) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %465 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %466 = "stablehlo.broadcast_in_dim"(%465) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %467 = "stablehlo.multiply"(%466, %arg44) : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %468 = "stablehlo.add"(%376, %467) : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %469 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %470 = "stablehlo.broadcast_in_dim"(%469) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %471 = "stablehlo.multiply"(%470, %arg45) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %472 = "stablehlo.add"(%294, %471) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %473 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %474 = "stablehlo.broadcast_in_dim"(%473) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x10xf32>
    %475 = "stablehlo.multiply"(%474, %arg46) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %476 = "stablehlo.add"(%296, %475) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %477 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %478 = "stablehlo.broadcast_in_dim"(%477) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %479 = "stablehlo.multiply"(%478, %arg47) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %480 = "stablehlo.add"(%320, %479) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %481 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %482 = "stablehlo.broadcast_in_dim"(%481) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x32xf32>
    %483 = "stablehlo.multiply"(%482, %arg48) : (tensor<3x3x1x32xf32>, tensor<3x3x1x32xf32>) -> tensor<3x3x1x32xf32>
    %484 = "stablehlo.add"(%321, %483) : (tensor<3x3x1x32xf32>, tensor<3x3x1x32xf32>) -> tensor<3x3x1x32xf32>
    %485 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %486 = "stablehlo.broadcast_in_dim"(%485) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %487 = "stablehlo.multiply"(%486, %432) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %488 = "stablehlo.add"(%390, %487) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %489 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %490 = "stablehlo.broadcast_in_dim"(%489) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %491 = "stablehlo.multiply"(%490, %436) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %492 = "stablehlo.add"(%399, %491) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %493 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %494 = "stablehlo.broadcast_in_dim"(%493) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %495 = "stablehlo.multiply"(%494, %440) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %496 = "stablehlo.add"(%338, %495) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %497 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %498 = "stablehlo.broadcast_in_dim"(%497) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %499 = "stablehlo.multiply"(%498, %444) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %500 = "stablehlo.add"(%347, %499) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %501 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %502 = "stablehlo.broadcast_in_dim"(%501) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %503 = "stablehlo.multiply"(%502, %448) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %504 = "stablehlo.add"(%305, %503) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %505 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %506 = "stablehlo.broadcast_in_dim"(%505) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x32x16xf32>
    %507 = "stablehlo.multiply"(%506, %452) : (tensor<2x2x32x16xf32>, tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
    %508 = "stablehlo.add"(%306, %507) : (tensor<2x2x32x16xf32>, tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
    %509 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %510 = "stablehlo.broadcast_in_dim"(%509) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %511 = "stablehlo.multiply"(%510, %456) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %512 = "stablehlo.add"(%427, %511) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %513 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %514 = "stablehlo.broadcast_in_dim"(%513) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x3x16xf32>
    %515 = "stablehlo.multiply"(%514, %460) : (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %516 = "stablehlo.add"(%428, %515) : (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %517 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %518 = "stablehlo.broadcast_in_dim"(%517) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %519 = "stablehlo.multiply"(%518, %464) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %520 = "stablehlo.add"(%375, %519) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %521 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %522 = "stablehlo.broadcast_in_dim"(%521) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %523 = "stablehlo.multiply"(%522, %468) : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %524 = "stablehlo.add"(%376, %523) : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %525 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %526 = "stablehlo.broadcast_in_dim"(%525) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %527 = "stablehlo.multiply"(%526, %472) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %528 = "stablehlo.add"(%294, %527) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %529 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %530 = "stablehlo.broadcast_in_dim"(%529) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x10xf32>
    %531 = "stablehlo.multiply"(%530, %476) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %532 = "stablehlo.add"(%296, %531) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %533 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %534 = "stablehlo.broadcast_in_dim"(%533) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %535 = "stablehlo.multiply"(%534, %480) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %536 = "stablehlo.add"(%320, %535) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %537 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %538 = "stablehlo.broadcast_in_dim"(%537) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x32xf32>
    %539 = "stablehlo.multiply"(%538, %484) : (tensor<3x3x1x32xf32>, tensor<3x3x1x32xf32>) -> tensor<3x3x1x32xf32>
    %540 = "stablehlo.add"(%321, %539) : (tensor<3x3x1x32xf32>, tensor<3x3x1x32xf32>) -> tensor<3x3x1x32xf32>
    %541 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %542 = "stablehlo.broadcast_in_dim"(%541) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %543 = "stablehlo.multiply"(%542, %488) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %544 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %545 = "stablehlo.broadcast_in_dim"(%544) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %546 = "stablehlo.multiply"(%545, %492) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %547 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %548 = "stablehlo.broadcast_in_dim"(%547) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %549 = "stablehlo.multiply"(%548, %496) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %550 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %551 = "stablehlo.broadcast_in_dim"(%550) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %552 = "stablehlo.multiply"(%551, %500) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %553 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %554 = "stablehlo.broadcast_in_dim"(%553) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %555 = "stablehlo.multiply"(%554, %504) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %556 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %557 = "stablehlo.broadcast_in_dim"(%556) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x32x16xf32>
    %558 = "stablehlo.multiply"(%557, %508) : (tensor<2x2x32x16xf32>, tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
    %559 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %560 = "stablehlo.broadcast_in_dim"(%559) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %561 = "stablehlo.multiply"(%560, %512) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %562 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %563 = "stablehlo.broadcast_in_dim"(%562) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x3x16xf32>
    %564 = "stablehlo.multiply"(%563, %516) : (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %565 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %566 = "stablehlo.broadcast_in_dim"(%565) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %567 = "stablehlo.multiply"(%566, %520) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %568 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %569 = "stablehlo.broadcast_in_dim"(%568) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x16x32xf32>
    %570 = "stablehlo.multiply"(%569, %524) : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %571 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %572 = "stablehlo.broadcast_in_dim"(%571) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %573 = "stablehlo.multiply"(%572, %528) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %574 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %575 = "stablehlo.broadcast_in_dim"(%574) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x10xf32>
    %576 = "stablehlo.multiply"(%575, %532) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %577 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %578 = "stablehlo.broadcast_in_dim"(%577) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %579 = "stablehlo.multiply"(%578, %536) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %580 = "stablehlo.constant"() <{value = dense<-1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %581 = "stablehlo.broadcast_in_dim"(%580) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x32xf32>
    %582 = "stablehlo.multiply"(%581, %540) : (tensor<3x3x1x32xf32>, tensor<3x3x1x32xf32>) -> tensor<3x3x1x32xf32>
    %583 = "stablehlo.add"(%arg21, %543) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %584 = "stablehlo.add"(%arg22, %546) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %585 = "stablehlo.add"(%arg23, %549) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %586 = "stablehlo.add"(%arg24, %552) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %587 = "stablehlo.add"(%arg25, %555) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %588 = "stablehlo.add"(%arg26, %558) : (tensor<2x2x32x16xf32>, tensor<2x2x32x16xf32>) -> tensor<2x2x32x16xf32>
    %589 = "stablehlo.add"(%arg27, %561) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %590 = "stablehlo.add"(%arg28, %564) : (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %591 = "stablehlo.add"(%arg29, %567) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %592 = "stablehlo.add"(%arg30, %570) : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
    %593 = "stablehlo.add"(%arg31, %573) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %594 = "stablehlo.add"(%arg32, %576) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %595 = "stablehlo.add"(%arg33, %579) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %596 = "stablehlo.add"(%arg34, %582) : (tensor<3x3x1x32xf32>, tensor<3x3x1x32xf32>) -> tensor<3x3x1x32xf32>
    "func.return"(%583, %584, %585, %586, %587, %588, %589, %590, %591, %592, %593, %594, %595, %596, %432, %436, %440, %444, %448, %452, %456, %460, %464, %468, %472, %476, %480, %484, %106, %113, %187, %194, %273) : (tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<2x2x32x16xf32>, tensor<16xf32>, tensor<3x3x3x16xf32>, tensor<32xf32>, tensor<3x3x16x32xf32>, tensor<10xf32>, tensor<16x10xf32>, tensor<32xf32>, tensor<3x3x1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<2x2x32x16xf32>, tensor<16xf32>, tensor<3x3x3x16xf32>, tensor<32xf32>, tensor<3x3x16x32xf32>, tensor<10xf32>, tensor<16x10xf32>, tensor<32xf32>, tensor<3x3x1x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>, sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<32x32x32x16xf32>):
    %56 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32x32x16xf32>
    %58 = "stablehlo.maximum"(%arg20, %57) : (tensor<32x32x32x16xf32>, tensor<32x32x32x16xf32>) -> tensor<32x32x32x16xf32>
    "func.return"(%58) : (tensor<32x32x32x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>, sym_name = "relu_0", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<32x16x16x32xf32>):
    %53 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x16x32xf32>
    %55 = "stablehlo.maximum"(%arg19, %54) : (tensor<32x16x16x32xf32>, tensor<32x16x16x32xf32>) -> tensor<32x16x16x32xf32>
    "func.return"(%55) : (tensor<32x16x16x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<32x10xf32>, tensor<32x1xi32>) -> (tensor<32x1xf32>, tensor<32x1x1xi32>), sym_name = "take_along_axis", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<32x10xf32>, %arg16: tensor<32x1xi32>):
    %30 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<32x1xi32>
    %32 = "stablehlo.compare"(%arg16, %31) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x1xi1>
    %33 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<32x1xi32>
    %35 = "stablehlo.add"(%arg16, %34) : (tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x1xi32>
    %36 = "stablehlo.select"(%32, %35, %arg16) : (tensor<32x1xi1>, tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x1xi32>
    %37 = "stablehlo.reshape"(%36) : (tensor<32x1xi32>) -> tensor<32x1x1xi32>
    %38 = "stablehlo.constant"() <{value = dense<9> : tensor<1xi32>}> : () -> tensor<1xi32>
    %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<32x1x1xi32>
    %41 = "stablehlo.compare"(%37, %40) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %42 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64: 2>}> : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xi32>) -> tensor<32x1x1xi32>
    %44 = "stablehlo.compare"(%37, %43) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %45 = "stablehlo.and"(%41, %44) : (tensor<32x1x1xi1>, tensor<32x1x1xi1>) -> tensor<32x1x1xi1>
    %46 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %47 = "stablehlo.reduce"(%45, %46) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg17: tensor<i1>, %arg18: tensor<i1>):
      %52 = "stablehlo.and"(%arg17, %arg18) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%52) : (tensor<i1>) -> ()
    }) : (tensor<32x1x1xi1>, tensor<i1>) -> tensor<32x1xi1>
    %48 = "stablehlo.gather"(%arg15, %37) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x10xf32>, tensor<32x1x1xi32>) -> tensor<32x1xf32>
    %49 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x1xf32>
    %51 = "stablehlo.select"(%47, %48, %50) : (tensor<32x1xi1>, tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
    "func.return"(%51, %37) : (tensor<32x1xf32>, tensor<32x1x1xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<32x1xf32>, tensor<i32>) -> (tensor<32xf32>, tensor<1xi32>), sym_name = "_take", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<32x1xf32>, %arg12: tensor<i32>):
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.compare"(%arg12, %9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.add"(%arg12, %11) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %13 = "func.call"(%10, %12, %arg12) <{callee = @_where}> : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %16 = "stablehlo.convert"(%14) : (tensor<1xi32>) -> tensor<1xi32>
    %17 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.compare"(%16, %18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %20 = "stablehlo.compare"(%16, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
    %21 = "stablehlo.and"(%19, %20) : (tensor<1xi1>, tensor<1xi1>) -> tensor<1xi1>
    %22 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %23 = "stablehlo.reduce"(%21, %22) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg13: tensor<i1>, %arg14: tensor<i1>):
      %29 = "stablehlo.and"(%arg13, %arg14) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%29) : (tensor<i1>) -> ()
    }) : (tensor<1xi1>, tensor<i1>) -> tensor<i1>
    %24 = "stablehlo.gather"(%arg11, %16) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, indices_are_sorted = false, slice_sizes = array<i64: 32, 1>}> : (tensor<32x1xf32>, tensor<1xi32>) -> tensor<32xf32>
    %25 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<32xi1>
    %26 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %28 = "stablehlo.select"(%25, %24, %27) : (tensor<32xi1>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    "func.return"(%28, %14) : (tensor<32xf32>, tensor<1xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<i1>, %arg9: tensor<i32>, %arg10: tensor<i32>):
    %8 = "stablehlo.select"(%arg8, %arg9, %arg10) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%8) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1xi32>, tensor<32xf32>) -> tensor<32x1xf32>, sym_name = "_take_1", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<1xi32>, %arg5: tensor<32xf32>):
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x1xf32>
    %6 = "stablehlo.scatter"(%5, %arg4, %arg5) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %7 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) : (tensor<32x1xf32>, tensor<1xi32>, tensor<32xf32>) -> tensor<32x1xf32>
    "func.return"(%6) : (tensor<32x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<32x1x1xi32>, tensor<32x1xf32>) -> tensor<32x10xf32>, sym_name = "take_along_axis_2", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<32x1x1xi32>, %arg1: tensor<32x1xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %2 = "stablehlo.scatter"(%1, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) : (tensor<32x10xf32>, tensor<32x1x1xi32>, tensor<32x1xf32>) -> tensor<32x10xf32>
    "func.return"(%2) : (tensor<32x10xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
