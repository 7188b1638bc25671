/** Amazon SNS over HTTPS: what its envelope says. Signatures are the receiver's business. */
import { z } from 'zod';
import { optionalText as text } from './optional-text.ts';

/** The envelope of every SNS request without raw delivery. */
export const snsMessage = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: text,
  TopicArn: text,
  Token: z.string().max(4096).nullish().catch(undefined),
  Message: z.string().nullish().catch(undefined),
});

/**
 * The command by which an operator confirms a subscription. The token in it is no secret of ours: it does nothing but confirm this one
 * subscription, works once, and ends after three days. Undefined unless both are safe to paste into a shell.
 */
export function confirmationCommand({ TopicArn: topic, Token: token }: z.output<typeof snsMessage>): string | undefined {
  const [, region] = /^arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/.exec(topic ?? '') ?? [];
  if (region === undefined || !/^[A-Za-z0-9]{1,2048}$/.test(token ?? '')) return undefined;
  return `aws sns confirm-subscription --region ${region} --topic-arn ${topic} --token ${token}`;
}
