/** The API's description, made from the endpoints themselves. */
@NullMarked
package dev.postrider.server.openapi;

import org.jspecify.annotations.NullMarked;
