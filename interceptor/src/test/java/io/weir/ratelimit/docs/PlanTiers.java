// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.docs;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

@ApplicationScoped
@Named("plans")
public class PlanTiers implements TierResolver {
    @Resource(lookup = "java:comp/DefaultDataSource")
    DataSource database;

    @Override
    public Optional<String> tier(Identity caller) {
        try (Connection connection = database.getConnection();
                PreparedStatement query = connection.prepareStatement("select plan from customer where name = ?")) {
            query.setQueryTimeout(1);
            query.setString(1, caller.parts().get(0).value());
            try (ResultSet found = query.executeQuery()) {
                return found.next() ? Optional.of(found.getString("plan")) : Optional.empty();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the plan of a customer cannot be read", e);
        }
    }
}
