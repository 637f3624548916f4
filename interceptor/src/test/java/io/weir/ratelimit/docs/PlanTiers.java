// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.docs;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;

@ApplicationScoped
@Named("plans")
public class PlanTiers implements TierResolver {
    @Resource(lookup = "java:comp/DefaultDataSource")
    DataSource database;

    private final Cache<String, Optional<String>> plans = Caffeine.newBuilder()
            .maximumSize(10_000)
            .expireAfterWrite(Duration.ofMinutes(1))
            .build();

    @Override
    public Optional<String> tier(CallContext call) {
        return call.principal().flatMap(user -> plans.get(user, this::plan));
    }

    private Optional<String> plan(String user) {
        try (Connection connection = database.getConnection();
                PreparedStatement query = connection.prepareStatement("select plan from customer where name = ?")) {
            query.setQueryTimeout(1);
            query.setString(1, user);
            try (ResultSet found = query.executeQuery()) {
                return found.next() ? Optional.of(found.getString("plan")) : Optional.empty();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the plan of a customer cannot be read", e);
        }
    }
}
