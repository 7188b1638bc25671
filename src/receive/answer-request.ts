/** The story of a request to a known receiver: is the sender who it should be, is it its turn, and then its delivery. */
import { answerDelivery, type DeliveryAnswer, type DeliveryContext, type Receiver } from './answer-delivery.ts';
import { authenticate } from './authenticate.ts';
import type { Delivery } from './providers/provider.ts';

export type Answer =
  | DeliveryAnswer
  | { readonly status: 401; readonly why: string; readonly claim?: string | undefined }
  | { readonly status: 429; readonly retryAfterSeconds: number };

export interface RequestContext extends DeliveryContext {
  /** Counts a request; 0 when it may pass, otherwise the seconds to wait. */
  readonly takeTurn: (receiver: Receiver) => Promise<number>;
}

/** Strangers are refused before they are counted, so that they cannot use up a receiver's turns. */
export async function answerRequest(
  delivery: Delivery,
  token: string | undefined,
  receiver: Receiver,
  context: RequestContext,
): Promise<Answer> {
  const verdict = await authenticate(delivery, token, receiver);
  if (verdict.kind === 'refused') return { status: 401, why: verdict.why, claim: verdict.claim };
  if (verdict.kind === 'unavailable') return { status: 503, why: verdict.why };
  const retryAfterSeconds = await context.takeTurn(receiver);
  if (retryAfterSeconds > 0) return { status: 429, retryAfterSeconds };
  verdict.onAdmitted?.();
  return answerDelivery(delivery, receiver, context);
}
