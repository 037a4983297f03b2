package dev.postrider.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;

/** A message as AMQP has it. The body may be the message's own payload. */
record Publication(String exchange, String routingKey, BasicProperties properties, byte[] body) {}
