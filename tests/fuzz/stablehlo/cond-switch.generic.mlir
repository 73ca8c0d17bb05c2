"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{function_type = (tensor<16x16xf32>, tensor<8x16xf32>, tensor<i32>, tensor<i1>) -> (tensor<16x16xf32>, tensor<f32>, tensor<8x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<16x16xf32>, %arg3: tensor<8x16xf32>, %arg4: tensor<i32>, %arg5: tensor<i1>):
    %2 = "stablehlo.convert"(%arg5) : (tensor<i1>) -> tensor<i32>
    %3:2 = "stablehlo.case"(%2) ({
      %112 = "stablehlo.tanh"(%arg3) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %113 = "stablehlo.transpose"(%arg2) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
      %114 = "stablehlo.dot_general"(%112, %113) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      "stablehlo.return"(%114, %112) : (tensor<8x16xf32>, tensor<8x16xf32>) -> ()
    }, {
      %111 = "stablehlo.dot_general"(%arg3, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      "stablehlo.return"(%111, %arg3) : (tensor<8x16xf32>, tensor<8x16xf32>) -> ()
    }) : (tensor<i32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.clamp"(%4, %arg4, %5) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %7:3 = "stablehlo.case"(%6) ({
      %108 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %109 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      "stablehlo.return"(%3#0, %108, %110) : (tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>) -> ()
    }, {
      %102 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %104 = "stablehlo.multiply"(%3#0, %103) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %105 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %106 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      "stablehlo.return"(%104, %105, %107) : (tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>) -> ()
    }, {
      %91 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %92 = "stablehlo.reduce"(%3#0, %91) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %101 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%101) : (tensor<f32>) -> ()
      }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
      %93 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %94 = "stablehlo.compare"(%92, %93) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %95 = "stablehlo.convert"(%94) : (tensor<i1>) -> tensor<i32>
      %96:2 = "stablehlo.case"(%95) ({
        %99 = "stablehlo.cosine"(%3#0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
        %100 = "stablehlo.sine"(%3#0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
        "stablehlo.return"(%99, %100) : (tensor<8x16xf32>, tensor<8x16xf32>) -> ()
      }, {
        %97 = "stablehlo.sine"(%3#0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
        %98 = "stablehlo.cosine"(%3#0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
        "stablehlo.return"(%97, %98) : (tensor<8x16xf32>, tensor<8x16xf32>) -> ()
      }) : (tensor<i32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
      "stablehlo.return"(%96#0, %95, %96#1) : (tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>) -> ()
    }, {
      %87 = "func.call"(%3#0) <{callee = @_flip}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %88 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %89 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      "stablehlo.return"(%87, %88, %90) : (tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>) -> ()
    }) : (tensor<i32>) -> (tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>)
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.compare"(%arg4, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = "stablehlo.constant"() <{value = dense<8> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.add"(%arg4, %10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %12 = "stablehlo.select"(%9, %11, %arg4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.dynamic_slice"(%7#0, %12, %13) <{slice_sizes = array<i64: 2, 4>}> : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.compare"(%arg4, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %17 = "stablehlo.constant"() <{value = dense<16> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.add"(%arg4, %17) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %19 = "stablehlo.select"(%16, %18, %arg4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %20 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %21 = "stablehlo.dynamic_update_slice"(%7#0, %14, %20, %19) : (tensor<8x16xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %22 = "stablehlo.constant"() <{value = dense<-1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %25 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %26 = "stablehlo.clamp"(%24, %21, %25) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %27 = "stablehlo.constant"() <{value = dense<-1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %29 = "stablehlo.compare"(%21, %28) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %30 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %32 = "stablehlo.compare"(%21, %31) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %33 = "stablehlo.and"(%29, %32) : (tensor<8x16xi1>, tensor<8x16xi1>) -> tensor<8x16xi1>
    %34 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.reduce"(%26, %34) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %86 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%86) : (tensor<f32>) -> ()
    }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %36 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %38 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %40 = "stablehlo.select"(%33, %37, %39) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %41 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4xf32>
    %43 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %44 = "stablehlo.dynamic_update_slice"(%40, %42, %43, %19) : (tensor<8x16xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %45 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %46 = "stablehlo.dynamic_slice"(%40, %45, %19) <{slice_sizes = array<i64: 2, 4>}> : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %49 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %50 = "stablehlo.dynamic_update_slice"(%48, %46, %12, %49) : (tensor<8x16xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
    %51 = "stablehlo.add"(%44, %50) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %52 = "stablehlo.case"(%6) ({
      "stablehlo.return"(%51) : (tensor<8x16xf32>) -> ()
    }, {
      %83 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
      %85 = "stablehlo.multiply"(%51, %84) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      "stablehlo.return"(%85) : (tensor<8x16xf32>) -> ()
    }, {
      %79 = "stablehlo.case"(%7#1) ({
        %81 = "stablehlo.negate"(%51) : (tensor<8x16xf32>) -> tensor<8x16xf32>
        %82 = "stablehlo.multiply"(%81, %7#2) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
        "stablehlo.return"(%82) : (tensor<8x16xf32>) -> ()
      }, {
        %80 = "stablehlo.multiply"(%51, %7#2) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
        "stablehlo.return"(%80) : (tensor<8x16xf32>) -> ()
      }) : (tensor<i32>) -> tensor<8x16xf32>
      "stablehlo.return"(%79) : (tensor<8x16xf32>) -> ()
    }, {
      %78 = "func.call"(%51) <{callee = @_flip_0}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
      "stablehlo.return"(%78) : (tensor<8x16xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8x16xf32>
    %53 = "stablehlo.case"(%2) ({
      %75 = "stablehlo.dot_general"(%52, %3#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %76 = "stablehlo.transpose"(%75) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
      %77 = "stablehlo.transpose"(%76) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
      "stablehlo.return"(%77) : (tensor<16x16xf32>) -> ()
    }, {
      %73 = "stablehlo.dot_general"(%52, %3#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %74 = "stablehlo.transpose"(%73) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
      "stablehlo.return"(%74) : (tensor<16x16xf32>) -> ()
    }) : (tensor<i32>) -> tensor<16x16xf32>
    %54 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16xf32>
    %56 = "stablehlo.multiply"(%53, %55) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %57 = "stablehlo.subtract"(%arg2, %56) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %58 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x16xi32>
    %59 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %61 = "stablehlo.add"(%arg3, %60) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %62 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16xf32>
    %64 = "stablehlo.add"(%arg3, %63) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %65 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x16xi32>
    %67 = "stablehlo.compare"(%58, %66) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>
    %68 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x16xi32>
    %70 = "stablehlo.compare"(%58, %69) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>
    %71 = "stablehlo.select"(%70, %61, %64) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %72 = "stablehlo.select"(%67, %arg3, %71) : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%57, %35, %72) : (tensor<16x16xf32>, tensor<f32>, tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8x16xf32>) -> tensor<8x16xf32>, sym_name = "_flip", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<8x16xf32>):
    %1 = "stablehlo.reverse"(%arg1) <{dimensions = array<i64: 0>}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%1) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8x16xf32>) -> tensor<8x16xf32>, sym_name = "_flip_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16xf32>):
    %0 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 0>}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
    "func.return"(%0) : (tensor<8x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
