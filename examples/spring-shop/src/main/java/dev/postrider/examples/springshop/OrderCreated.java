package dev.postrider.examples.springshop;

record OrderCreated(String orderId, long cents) {}
