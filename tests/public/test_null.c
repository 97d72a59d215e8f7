/* Public calls that cannot fail accept NULL. The errors of calls that can fail are tested with
 * the context. */
#include "testing.h"

TEST(getters_answer_for_nothing)
{
    assert_int_equal(graphss_graph_edges(NULL), 0);
    assert_int_equal(graphss_graph_degree(NULL, 3), 0);
    assert_int_equal(graphss_graph_degree(&(graphss_graph){0}, 3), 0);
    assert_false(graphss_graph_has_edge(NULL, 0, 1));
    assert_true(isnan(graphss_graph_homophily(NULL, NULL)));
    assert_false(graphss_features_dense(NULL));
    assert_int_equal(graphss_features_stored(NULL), 0);
    assert_int_equal(graphss_flips_count(NULL, GRAPHSS_FLIP_EDGE), 0);
    assert_string_equal(graphss_names_get(NULL, 0), "");
    assert_string_equal(graphss_names_get(&(graphss_names){0}, 0), "");
    assert_string_equal(graphss_name_guard(NULL), "");
    assert_int_equal(graphss_name_escape(NULL, "a"), 0);
    assert_int_equal(graphss_dataset_find(NULL, "a"), -1);
    assert_int_equal(graphss_dataset_find(&(graphss_dataset){0}, NULL), -1);
    assert_int_equal(graphss_node_index_find(NULL, "a"), -1);
    assert_null(graphss_option_find(NULL, "a"));
    assert_null(graphss_option_find(graphss_train_options_table(), NULL));
    assert_false(graphss_recover_method_uses(NULL, GRAPHSS_MODE_DEFAULT, "epochs"));
    assert_false(graphss_recover_method_uses(NULL, GRAPHSS_MODE_DEFAULT, NULL));
    assert_false(graphss_attack_uses(NULL, NULL));
    assert_false(graphss_model_uses(NULL, NULL));
    assert_non_null(graphss_reproduce_recipe(0, NULL, NULL));
}

TEST(a_model_that_is_not_there_has_no_properties)
{
    assert_null(graphss_model_options(NULL));
    assert_int_equal(graphss_model_classes(NULL), 0);
    assert_int_equal(graphss_model_features(NULL), 0);
    assert_int_equal(graphss_model_seed(NULL), 0);
    assert_null(graphss_model_split(NULL));
    assert_null(graphss_model_class_name(NULL, 0));
    assert_null(graphss_model_class_names(NULL));
    assert_int_equal(graphss_model_nodes(NULL), 0);
    assert_null(graphss_model_node_names(NULL));
    assert_null(graphss_model_column_names(NULL));
    assert_string_equal(graphss_model_dataset_hash(NULL), "");
    assert_string_equal(graphss_model_dataset_name(NULL), "");
    graphss_tensor w;
    assert_false(graphss_model_weight(&w, NULL, 0));
}

TEST(arithmetic_on_nothing_does_nothing)
{
    double phi[4] = {7, 7, 7, 7};
    int64_t confusion[4] = {7, 7, 7, 7};
    int32_t label[1] = {7};
    graphss_labels_argmax(NULL, NULL, 1, 2);
    graphss_labels_argmax(label, NULL, 1, 2);
    assert_int_equal(label[0], 7);
    graphss_labels_confusion(NULL, 2, NULL, NULL, NULL, 1);
    graphss_labels_confusion(confusion, 2, NULL, label, NULL, 1);
    assert_int_equal(confusion[0], 0);
    graphss_transition_count(NULL, NULL, NULL, 1, 2);
    graphss_transition_count(phi, NULL, NULL, 1, 2);
    assert_true(phi[3] == 0);
    graphss_transition_mean(NULL, NULL, NULL, 2);
    graphss_transition_mean(phi, NULL, NULL, 2);
    graphss_protocol_budget(NULL, NULL, NULL);
    graphss_protocol_suit(NULL, NULL);
    assert_null(graphss_protocol_input(NULL).model);
    assert_true(isnan(graphss_protocol_measure(NULL, NULL).victims));
}

TEST(texts_of_nothing_and_to_nowhere)
{
    char out[8];
    assert_int_equal(graphss_option_text(out, sizeof out, NULL, NULL), 1);
    assert_string_equal(out, "?");
    assert_int_equal(graphss_attack_budget_text(out, sizeof out, NULL), 1);
    assert_int_equal(graphss_attack_domain_text(NULL, 0, NULL, NULL), 1);
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    assert_true(graphss_attack_budget_text(NULL, 9, &opt) > 0);
}

int main(void)
{
    return testing_run();
}
