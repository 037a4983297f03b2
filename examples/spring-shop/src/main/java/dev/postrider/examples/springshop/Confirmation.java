package dev.postrider.examples.springshop;

record Confirmation(String orderId) {}
