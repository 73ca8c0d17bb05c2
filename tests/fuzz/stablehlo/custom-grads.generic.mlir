"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {}, {}], function_type = (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<16x16xf32>), res_attrs = [{jax.result_info = "result[0]['w'][0]"}, {jax.result_info = "result[0]['w'][1]"}, {jax.result_info = "result[0]['w'][2]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg24: tensor<32x32xf32>, %arg25: tensor<32x32xf32>, %arg26: tensor<32x32xf32>, %arg27: tensor<16x32xf32>, %arg28: tensor<16xf32>):
    %69:2 = "func.call"(%arg27, %arg24) <{callee = @helper}> : (tensor<16x32xf32>, tensor<32x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
    %70 = "stablehlo.exponential"(%69#0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %71 = "stablehlo.log_plus_one"(%70) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %72:2 = "func.call"(%71, %arg25) <{callee = @helper_0}> : (tensor<16x32xf32>, tensor<32x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
    %73 = "stablehlo.exponential"(%72#0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %74 = "stablehlo.log_plus_one"(%73) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %75:2 = "func.call"(%74, %arg26) <{callee = @helper_0}> : (tensor<16x32xf32>, tensor<32x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>)
    %76 = "stablehlo.exponential"(%75#0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %77 = "stablehlo.log_plus_one"(%76) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %78 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.reduce"(%77, %78) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg35: tensor<f32>, %arg36: tensor<f32>):
      %211 = "stablehlo.add"(%arg35, %arg36) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%211) : (tensor<f32>) -> ()
    }) : (tensor<16x32xf32>, tensor<f32>) -> tensor<16xf32>
    %80 = "stablehlo.subtract"(%79, %arg28) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %81 = "stablehlo.multiply"(%80, %80) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %82 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %84 = "stablehlo.multiply"(%83, %80) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %85 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.reduce"(%81, %85) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg33: tensor<f32>, %arg34: tensor<f32>):
      %210 = "stablehlo.add"(%arg33, %arg34) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%210) : (tensor<f32>) -> ()
    }) : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %87 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %88 = "stablehlo.divide"(%86, %87) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%arg27) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x32xf32>) -> tensor<16x1x32xf32>
    %90:2 = "func.call"(%89, %arg24) <{callee = @helper_1}> : (tensor<16x1x32xf32>, tensor<32x32xf32>) -> (tensor<16x1x32xf32>, tensor<16x1x32xi1>)
    %91 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %92 = "stablehlo.reduce"(%90#0, %91) <{dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %209 = "stablehlo.add"(%arg31, %arg32) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%209) : (tensor<f32>) -> ()
    }) : (tensor<16x1x32xf32>, tensor<f32>) -> tensor<16xf32>
    %93 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %94 = "stablehlo.reduce"(%92, %93) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg29: tensor<f32>, %arg30: tensor<f32>):
      %208 = "stablehlo.add"(%arg29, %arg30) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%208) : (tensor<f32>) -> ()
    }) : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %95 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %96 = "stablehlo.divide"(%94, %95) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %97 = "stablehlo.add"(%88, %96) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %98 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %99 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %100 = "stablehlo.divide"(%98, %99) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1x32xf32>
    %103 = "func.call"(%89, %90#1, %102) <{callee = @helper_3}> : (tensor<16x1x32xf32>, tensor<16x1x32xi1>, tensor<16x1x32xf32>) -> tensor<32x32xf32>
    %104 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %105 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.divide"(%104, %105) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %108 = "stablehlo.multiply"(%107, %84) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x32xf32>
    %110:4 = "stablehlo.optimization_barrier"(%75#1, %74, %arg26, %109) : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>)
    %111:2 = "func.call"(%110#0) <{callee = @helper_4}> : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xi1>)
    %112 = "stablehlo.negate"(%111#0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %113 = "stablehlo.exponential"(%112) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %114 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %115 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %116 = "stablehlo.add"(%115, %113) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %117 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %119 = "stablehlo.divide"(%118, %116) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %120 = "stablehlo.multiply"(%110#3, %119) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %121:2 = "func.call"(%111#1, %110#2, %110#1, %120) <{callee = @helper_6}> : (tensor<16x32xi1>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<32x32xf32>)
    %122 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %123 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %124 = "func.call"(%121#0, %122, %123) <{callee = @clip}> : (tensor<16x32xf32>, tensor<i32>, tensor<i32>) -> tensor<16x32xf32>
    %125:4 = "stablehlo.optimization_barrier"(%72#1, %71, %arg25, %124) : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>)
    %126:2 = "func.call"(%125#0) <{callee = @helper_4}> : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xi1>)
    %127 = "stablehlo.negate"(%126#0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %128 = "stablehlo.exponential"(%127) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %129 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %130 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %131 = "stablehlo.add"(%130, %128) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %132 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %133 = "stablehlo.broadcast_in_dim"(%132) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %134 = "stablehlo.divide"(%133, %131) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %135 = "stablehlo.multiply"(%125#3, %134) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %136:2 = "func.call"(%126#1, %125#2, %125#1, %135) <{callee = @helper_6}> : (tensor<16x32xi1>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<32x32xf32>)
    %137 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %138 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %139 = "func.call"(%136#0, %137, %138) <{callee = @clip}> : (tensor<16x32xf32>, tensor<i32>, tensor<i32>) -> tensor<16x32xf32>
    %140:3 = "stablehlo.optimization_barrier"(%69#1, %arg27, %139) : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>)
    %141:2 = "func.call"(%140#0) <{callee = @helper_7}> : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xi1>)
    %142 = "stablehlo.negate"(%141#0) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %143 = "stablehlo.exponential"(%142) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %144 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %145 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %146 = "stablehlo.add"(%145, %143) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %147 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %148 = "stablehlo.broadcast_in_dim"(%147) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %149 = "stablehlo.divide"(%148, %146) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %150 = "stablehlo.multiply"(%140#2, %149) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %151 = "func.call"(%141#1, %140#1, %150) <{callee = @helper_8}> : (tensor<16x32xi1>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %152 = "stablehlo.add"(%103, %151) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %153 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.broadcast_in_dim"(%153) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %155 = "stablehlo.multiply"(%154, %152) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %156 = "stablehlo.subtract"(%arg24, %155) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %157 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %159 = "stablehlo.multiply"(%158, %136#1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %160 = "stablehlo.subtract"(%arg25, %159) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %161 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %162 = "stablehlo.broadcast_in_dim"(%161) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %163 = "stablehlo.multiply"(%162, %121#1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %164 = "stablehlo.subtract"(%arg26, %163) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %165 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16x16xi32>
    %166 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<16x16xi32>
    %167 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %168 = "stablehlo.broadcast_in_dim"(%167) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x16xi32>
    %169 = "stablehlo.add"(%165, %168) : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi32>
    %170 = "stablehlo.compare"(%169, %166) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %171 = "stablehlo.convert"(%170) : (tensor<16x16xi1>) -> tensor<16x16xf32>
    %172 = "stablehlo.slice"(%171) <{limit_indices = array<i64: 16, 16>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %173 = "stablehlo.convert"(%172) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %174 = "stablehlo.negate"(%arg28) : (tensor<16xf32>) -> tensor<16xf32>
    %175 = "stablehlo.exponential"(%174) : (tensor<16xf32>) -> tensor<16xf32>
    %176 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %177 = "stablehlo.broadcast_in_dim"(%176) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %178 = "stablehlo.add"(%177, %175) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %179 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %180 = "stablehlo.broadcast_in_dim"(%179) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %181 = "stablehlo.divide"(%180, %178) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %182 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %183 = "stablehlo.broadcast_in_dim"(%182) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %184 = "stablehlo.subtract"(%183, %181) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %185 = "stablehlo.multiply"(%181, %184) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %186 = "stablehlo.broadcast_in_dim"(%185) <{broadcast_dimensions = array<i64: 1>}> : (tensor<16xf32>) -> tensor<1x16xf32>
    %187 = "stablehlo.broadcast_in_dim"(%186) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x16xf32>) -> tensor<16x16xf32>
    %188 = "stablehlo.multiply"(%173, %187) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %189 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1x1xi32>
    %190 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x1xi32>
    %191 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %192 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1x1xi32>
    %193 = "stablehlo.add"(%189, %192) : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi32>
    %194 = "stablehlo.compare"(%193, %190) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %195 = "stablehlo.convert"(%194) : (tensor<1x1xi1>) -> tensor<1x1xf32>
    %196 = "stablehlo.slice"(%195) <{limit_indices = array<i64: 1, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %197 = "stablehlo.reshape"(%196) : (tensor<1x1xf32>) -> tensor<1xf32>
    %198 = "stablehlo.convert"(%197) : (tensor<1xf32>) -> tensor<1xf32>
    %199 = "stablehlo.broadcast_in_dim"(%198) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x16xf32>
    %200 = "stablehlo.broadcast_in_dim"(%188) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x16xf32>) -> tensor<16x1x16xf32>
    %201 = "stablehlo.broadcast_in_dim"(%199) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x16xf32>) -> tensor<1x1x16xf32>
    %202 = "stablehlo.broadcast_in_dim"(%201) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x16xf32>) -> tensor<16x1x16xf32>
    %203 = "stablehlo.multiply"(%202, %200) : (tensor<16x1x16xf32>, tensor<16x1x16xf32>) -> tensor<16x1x16xf32>
    %204 = "stablehlo.slice"(%203) <{limit_indices = array<i64: 16, 1, 16>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<16x1x16xf32>) -> tensor<16x1x16xf32>
    %205 = "stablehlo.reshape"(%204) : (tensor<16x1x16xf32>) -> tensor<16x16xf32>
    %206 = "stablehlo.transpose"(%205) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %207 = "stablehlo.slice"(%206) <{limit_indices = array<i64: 16, 16>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    "func.return"(%156, %160, %164, %97, %207) : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xf32>, tensor<32x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>), sym_name = "helper", sym_visibility = "private"}> ({
  ^bb0(%arg22: tensor<16x32xf32>, %arg23: tensor<32x32xf32>):
    %67 = "stablehlo.dot_general"(%arg22, %arg23) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %68 = "func.call"(%67) <{callee = @relu6}> : (tensor<16x32xf32>) -> tensor<16x32xf32>
    "func.return"(%68, %67) : (tensor<16x32xf32>, tensor<16x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xf32>) -> tensor<16x32xf32>, sym_name = "relu6", sym_visibility = "private"}> ({
  ^bb0(%arg21: tensor<16x32xf32>):
    %61 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %63 = "stablehlo.maximum"(%arg21, %62) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %64 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %66 = "stablehlo.minimum"(%63, %65) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    "func.return"(%66) : (tensor<16x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xf32>, tensor<32x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>), sym_name = "helper_0", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<16x32xf32>, %arg20: tensor<32x32xf32>):
    %59 = "stablehlo.dot_general"(%arg19, %arg20) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    %60 = "func.call"(%59) <{callee = @relu6}> : (tensor<16x32xf32>) -> tensor<16x32xf32>
    "func.return"(%60, %59) : (tensor<16x32xf32>, tensor<16x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x1x32xf32>, tensor<32x32xf32>) -> (tensor<16x1x32xf32>, tensor<16x1x32xi1>), sym_name = "helper_1", sym_visibility = "private"}> ({
  ^bb0(%arg17: tensor<16x1x32xf32>, %arg18: tensor<32x32xf32>):
    %50 = "stablehlo.dot_general"(%arg17, %arg18) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x1x32xf32>, tensor<32x32xf32>) -> tensor<16x1x32xf32>
    %51 = "func.call"(%50) <{callee = @relu6_2}> : (tensor<16x1x32xf32>) -> tensor<16x1x32xf32>
    %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1x32xf32>
    %54 = "stablehlo.compare"(%50, %53) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<16x1x32xi1>
    %55 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1x32xf32>
    %57 = "stablehlo.compare"(%50, %56) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<16x1x32xi1>
    %58 = "stablehlo.and"(%54, %57) : (tensor<16x1x32xi1>, tensor<16x1x32xi1>) -> tensor<16x1x32xi1>
    "func.return"(%51, %58) : (tensor<16x1x32xf32>, tensor<16x1x32xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x1x32xf32>) -> tensor<16x1x32xf32>, sym_name = "relu6_2", sym_visibility = "private"}> ({
  ^bb0(%arg16: tensor<16x1x32xf32>):
    %44 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1x32xf32>
    %46 = "stablehlo.maximum"(%arg16, %45) : (tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<16x1x32xf32>
    %47 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1x32xf32>
    %49 = "stablehlo.minimum"(%46, %48) : (tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<16x1x32xf32>
    "func.return"(%49) : (tensor<16x1x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x1x32xf32>, tensor<16x1x32xi1>, tensor<16x1x32xf32>) -> tensor<32x32xf32>, sym_name = "helper_3", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<16x1x32xf32>, %arg14: tensor<16x1x32xi1>, %arg15: tensor<16x1x32xf32>):
    %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1x32xf32>
    %41 = "stablehlo.select"(%arg14, %arg15, %40) : (tensor<16x1x32xi1>, tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<16x1x32xf32>
    %42 = "stablehlo.dot_general"(%41, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<32x32xf32>
    %43 = "stablehlo.transpose"(%42) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    "func.return"(%43) : (tensor<32x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xi1>), sym_name = "helper_4", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<16x32xf32>):
    %31 = "func.call"(%arg12) <{callee = @relu6_5}> : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %32 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %34 = "stablehlo.compare"(%arg12, %33) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xi1>
    %35 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %37 = "stablehlo.compare"(%arg12, %36) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xi1>
    %38 = "stablehlo.and"(%34, %37) : (tensor<16x32xi1>, tensor<16x32xi1>) -> tensor<16x32xi1>
    "func.return"(%31, %38) : (tensor<16x32xf32>, tensor<16x32xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xf32>) -> tensor<16x32xf32>, sym_name = "relu6_5", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<16x32xf32>):
    %25 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %27 = "stablehlo.maximum"(%arg11, %26) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %28 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %30 = "stablehlo.minimum"(%27, %29) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    "func.return"(%30) : (tensor<16x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xi1>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<32x32xf32>), sym_name = "helper_6", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<16x32xi1>, %arg8: tensor<32x32xf32>, %arg9: tensor<16x32xf32>, %arg10: tensor<16x32xf32>):
    %19 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %21 = "stablehlo.select"(%arg7, %arg10, %20) : (tensor<16x32xi1>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %22 = "stablehlo.dot_general"(%21, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %23 = "stablehlo.transpose"(%22) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %24 = "stablehlo.dot_general"(%21, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
    "func.return"(%24, %23) : (tensor<16x32xf32>, tensor<32x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xf32>, tensor<i32>, tensor<i32>) -> tensor<16x32xf32>, sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<16x32xf32>, %arg5: tensor<i32>, %arg6: tensor<i32>):
    %13 = "stablehlo.convert"(%arg5) : (tensor<i32>) -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %15 = "stablehlo.maximum"(%14, %arg4) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %16 = "stablehlo.convert"(%arg6) : (tensor<i32>) -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %18 = "stablehlo.minimum"(%17, %15) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    "func.return"(%18) : (tensor<16x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xi1>), sym_name = "helper_7", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<16x32xf32>):
    %5 = "func.call"(%arg3) <{callee = @relu6_5}> : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %6 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %8 = "stablehlo.compare"(%arg3, %7) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xi1>
    %9 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %11 = "stablehlo.compare"(%arg3, %10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xi1>
    %12 = "stablehlo.and"(%8, %11) : (tensor<16x32xi1>, tensor<16x32xi1>) -> tensor<16x32xi1>
    "func.return"(%5, %12) : (tensor<16x32xf32>, tensor<16x32xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x32xi1>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>, sym_name = "helper_8", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x32xi1>, %arg1: tensor<16x32xf32>, %arg2: tensor<16x32xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %2 = "stablehlo.select"(%arg0, %arg2, %1) : (tensor<16x32xi1>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %3 = "stablehlo.dot_general"(%2, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %4 = "stablehlo.transpose"(%3) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    "func.return"(%4) : (tensor<32x32xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
