/** Authenticates deliveries by the signatures of Amazon SNS messages. */
import { verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { authentic, refused, type ProofResult, type VerifyProof } from './authenticate.ts';
import { type Delivery, MalformedBody, OversizedDelivery } from './providers/provider.ts';
import { limitedText, parseJsonBody } from './providers/read-payload.ts';

/** A topic of Amazon SNS. Every AWS URL that we request is built from it. */
export interface SnsTopic {
  readonly arn: string;
  /** The host of SNS in the topic's region: `sns.eu-west-1.amazonaws.com` */
  readonly host: string;
}

/** Matches the ARNs of topics. */
export const topicPattern = /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+)+-\d):\d{12}:[\w-]{1,256}(?:\.fifo)?$/;

/** Reads the ARN of a topic; undefined if it is not one. */
export function parseTopic(arn: string): SnsTopic | undefined {
  const [, partition, region] = topicPattern.exec(arn) ?? [];
  if (partition === undefined || region === undefined) return undefined;
  return { arn, host: `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}` };
}

/** The size up to which messages are parsed before their sender is known, because the proof is inside. An event of a registry has a few kilobytes. */
const maxMessageBytes = 65_536;

const text = z.string();
const message = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  Message: text,
  MessageId: text,
  Subject: text.nullish(),
  SubscribeURL: text.nullish(),
  Timestamp: text,
  Token: text.nullish(),
  TopicArn: text,
  SignatureVersion: z.enum(['1', '2']),
  Signature: limitedText(4_096),
  SigningCertURL: limitedText(512),
});
type SnsMessage = z.output<typeof message>;

/**
 * Finds the public key of the certificate with this file name; undefined if AWS has no such certificate, or an unusable one. `address` is the client that named
 * the file; its requests for unknown certificates are limited. Rejects with ProofUnavailable.
 */
export type FindSigningKey = (topic: SnsTopic, fileName: string, address: string) => Promise<KeyObject | undefined>;

export interface SnsOptions {
  readonly topics: readonly string[];
  readonly findSigningKey: FindSigningKey;
  /** Confirms a subscription of one of the topics. `url` is built from the topic, not taken from the message. */
  readonly confirm: (topic: SnsTopic, url: string) => void;
}

const signedFields = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const satisfies Record<SnsMessage['Type'], readonly (keyof SnsMessage)[]>;

const fileName = /^\/(SimpleNotificationService-[0-9a-f]{16,128}\.pem)$/;

/**
 * Verifies the signature (version 1 or 2) of an SNS message of one of the topics.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export function createSnsProof({ topics, findSigningKey, confirm }: SnsOptions): VerifyProof {
  const known = new Map(topics.map((arn) => [arn, parseTopic(arn)]));
  return async ({ headers, body }): Promise<ProofResult> => {
    if (body.length > maxMessageBytes)
      return refused(
        `a message of SNS of more than ${maxMessageBytes} bytes: put a secret into the URL of the subscription, or transform the event`,
      );
    const parsed = read(body);
    if (parsed === undefined) return refused('the body is not a message of SNS: turn raw message delivery of the subscription off');
    const topic = known.get(parsed.TopicArn);
    if (topic === undefined) return refused('the topic of the message is not configured: add its ARN to receivers[].sns.topics');
    const file = fileOf(parsed.SigningCertURL, topic);
    if (file === undefined) return refused("SigningCertURL is not a certificate of SNS in the topic's region");
    const key = await findSigningKey(topic, file, addressOf(headers));
    if (key === undefined) return refused('AWS has no usable certificate at SigningCertURL');
    const algorithm = parsed.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
    if (!verify(algorithm, textToSign(parsed), key, Buffer.from(parsed.Signature, 'base64')))
      return refused('the signature does not match the message');
    const { Type: type, Token: token } = parsed;
    if (type !== 'SubscriptionConfirmation' || !token) return authentic;
    return { kind: 'authentic', onAdmitted: () => confirm(topic, confirmationUrl(topic, token)) };
  };
}

/** The client's address as the proxy in front reports it. Without a proxy, clients can choose it, but it only divides a limit between them. */
function addressOf(headers: Delivery['headers']): string {
  return [headers['x-forwarded-for']].flat().at(-1)?.split(',').at(-1)?.trim() ?? '';
}

function read(body: Buffer): SnsMessage | undefined {
  try {
    return parseJsonBody(message, body);
  } catch (error) {
    if (error instanceof MalformedBody || error instanceof OversizedDelivery) return undefined;
    throw error;
  }
}

/** The file name of the certificate's URL, the only part of it that is used. The rest of the URL must be what we would build from the topic. */
function fileOf(url: string, { host }: SnsTopic): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname, search, username, password } = new URL(url);
  if (origin !== `https://${host}` || search !== '' || username !== '' || password !== '') return undefined;
  return fileName.exec(pathname)?.[1];
}

function textToSign(parsed: SnsMessage): Buffer {
  const lines = signedFields[parsed.Type].flatMap((name) => {
    const value: string | null | undefined = parsed[name];
    return value === undefined || value === null ? [] : [`${name}\n${value}\n`];
  });
  return Buffer.from(lines.join(''), 'utf8');
}

function confirmationUrl({ arn, host }: SnsTopic, token: string): string {
  const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: arn, Token: token });
  return `https://${host}/?${query.toString()}`;
}
