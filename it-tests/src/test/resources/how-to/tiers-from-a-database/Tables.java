// SPDX-License-Identifier: Apache-2.0
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** The tables that the queries of the page read. */
@ApplicationScoped
public class Tables {
    @Resource(lookup = "java:comp/DefaultDataSource")
    DataSource database;

    void create(@Observes @Initialized(ApplicationScoped.class) Object start) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create table customer (name varchar(20), plan varchar(20))");
            statement.execute("insert into customer values ('premium', 'premium')");
            statement.execute("create table contract (policy varchar(20), customer varchar(20), rate varchar(20))");
            statement.execute("insert into contract values ('api', 'contract', '500/1m')");
        }
    }
}
