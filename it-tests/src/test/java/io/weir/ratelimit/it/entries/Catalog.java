// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.graphql.GraphQLApi;
import org.eclipse.microprofile.graphql.Mutation;
import org.eclipse.microprofile.graphql.Query;
import org.eclipse.microprofile.graphql.Source;

/** A GraphQL API, whose operations and fields are limited. */
@GraphQLApi
public class Catalog {
    /** A product, whose type GraphQL reads from its accessors. */
    public static class Product {
        private final String name;

        Product(String name) {
            this.name = name;
        }

        public String getName() {
            return name;
        }
    }

    @Query
    @RateLimit("graph-query")
    public Product product(String name) {
        return new Product(name);
    }

    @Query
    @RateLimit("graph-stage")
    public CompletionStage<String> news() {
        return CompletableFuture.completedFuture("none");
    }

    @Query
    public List<Product> products() {
        return List.of(new Product("a"), new Product("b"), new Product("c"));
    }

    @RateLimit("graph-field")
    public String price(@Source Product product) {
        return "1 EUR";
    }

    @Mutation
    @RateLimit("graph-mutation")
    public String order(String name) {
        return name;
    }
}
