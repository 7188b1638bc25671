/** The consent that CloudEvents senders (Azure Event Grid among them) ask for before they deliver. */

/** How OPTIONS is answered. */
export type HandshakeAnswer =
  | { readonly status: 200; readonly headers: Readonly<Record<string, string>> }
  | { readonly status: 400; readonly error: string };

/** A DNS name, as the specification says; nothing that could do harm in a header that we send. */
const origin = /^[\w.:/*-]{1,255}$/;

/**
 * Allows the asking origin to POST, with our rate limit (requests per minute) when a rate is asked for. The callback that the sender may name is never
 * called. It proves nothing about the sender: deliveries are authenticated as always.
 * https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md#4-abuse-protection
 */
export function answerHandshake(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  requestsPerMinute: number,
): HandshakeAnswer {
  const asking = headers['webhook-request-origin'];
  if (typeof asking !== 'string' || !origin.test(asking)) return { status: 400, error: 'WebHook-Request-Origin is missing or no DNS name' };
  return {
    status: 200,
    headers: {
      allow: 'POST',
      'webhook-allowed-origin': asking,
      ...(headers['webhook-request-rate'] !== undefined && { 'webhook-allowed-rate': String(requestsPerMinute) }),
    },
  };
}
