// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import org.redisson.client.NettyHook;
import org.redisson.client.protocol.CommandData;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.client.protocol.RedisCommands;

/**
 * Answers checks of a new Redisson client instead of Redis. The client reads two foreign keys in order to recognize a cluster, and counts
 * subscriptions in order to recognize what a server supports. Scripts need none of the results, and the documented rights of Weir's user do
 * not cover the checks. The client has no setting for them. The hook of the configuration is called as well.
 */
record ClientChecks(NettyHook configured) implements NettyHook {
    @Override
    public void afterBoostrapInitialization(Bootstrap bootstrap) {
        configured.afterBoostrapInitialization(bootstrap);
    }

    @Override
    public void afterChannelInitialization(Channel channel) {
        configured.afterChannelInitialization(channel);
        channel.pipeline().addLast(new Answer());
    }

    /** Returns whether a command is one of the checks. Scripts of Weir are other command objects, and nothing else uses the client. */
    private static boolean isCheck(RedisCommand<?> command) {
        return command == RedisCommands.EVAL_VOID
                || command == RedisCommands.PUBSUB_NUMPAT
                || command == RedisCommands.PUBSUB_SHARDNUMSUB;
    }

    /** The first handler that sees a command. */
    private static final class Answer extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
            if (message instanceof CommandData<?, ?> data && isCheck(data.getCommand())) {
                data.getPromise().complete(null);
                promise.trySuccess();
            } else {
                super.write(context, message, promise);
            }
        }
    }
}
