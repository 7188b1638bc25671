/** What a sender may take of us: time, bytes, connections. */
export interface ListenLimits {
  readonly bodyLimitBytes: number;
  /** All headers of a request together. */
  readonly maxHeaderBytes: number;
  /** Until the last header is here. */
  readonly headersTimeoutMs: number;
  /** Until the last byte of the body is here. */
  readonly requestTimeoutMs: number;
  /** How long a connection may be idle between requests; longer than the load balancer in front keeps it, or that one meets closed connections. */
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
}

/** The limits in terms of Fastify and of Node's server below it. */
export function serverOptions({ bodyLimitBytes, maxHeaderBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs }: ListenLimits) {
  const soonest = Math.min(headersTimeoutMs, requestTimeoutMs);
  return {
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Nothing is ever sent slowly, so silence during an answer is a dead connection.
    connectionTimeout: requestTimeoutMs + 5_000,
    http: {
      maxHeaderSize: maxHeaderBytes,
      // Node wants it no longer than the request's.
      headersTimeout: soonest,
      // How late Node may notice: its default is half a minute.
      connectionsCheckingInterval: Math.max(20, Math.min(1_000, Math.floor(soonest / 4))),
    },
  };
}
