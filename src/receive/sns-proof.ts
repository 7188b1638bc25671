import { verify } from 'node:crypto';
import { z } from 'zod';
import { authentic, refused, type Verdict, type VerifyProof } from './proof.ts';
import { limitedText } from './providers/optional-text.ts';
import { parseJsonBody } from './providers/json-body.ts';
import { MalformedBody, OversizedDelivery, type Delivery } from './providers/provider.ts';
import type { FindSigningKey } from './signing-certificates.ts';
import { parseTopic, type SnsTopic } from './sns-topic.ts';

/** Of what says who it is only inside, strangers have as much parsed. An event of a registry has some kilobytes. */
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

export interface SnsOptions {
  readonly topics: readonly string[];
  readonly findSigningKey: FindSigningKey;
  /** A subscription of one of the topics wants to be confirmed, which proves nothing but that we want it: `url` is made by us. */
  readonly confirm: (topic: SnsTopic, url: string) => void;
}

const signedFields = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const satisfies Record<SnsMessage['Type'], readonly (keyof SnsMessage)[]>;

const fileName = /^\/(SimpleNotificationService-[0-9a-f]{16,128}\.pem)$/;

/**
 * The signature of a message of Amazon SNS, of one of the topics, versions 1 and 2.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export function createSnsProof({ topics, findSigningKey, confirm }: SnsOptions): VerifyProof {
  const known = new Map(topics.map((arn) => [arn, parseTopic(arn)]));
  return async ({ headers, body }): Promise<Verdict> => {
    if (body.length > maxMessageBytes) return refused('longer than a message of SNS that tells of a push');
    const parsed = read(body);
    if (parsed === undefined) return refused('not a message of SNS');
    const topic = known.get(parsed.TopicArn);
    if (topic === undefined) return refused('the message is of a topic that is not configured');
    const file = fileOf(parsed.SigningCertURL, topic);
    if (file === undefined) return refused("the certificate is not one of SNS in the topic's region");
    const key = await findSigningKey(topic, file, addressOf(headers));
    if (key === undefined) return refused('the certificate cannot be used');
    const algorithm = parsed.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
    if (!verify(algorithm, textToSign(parsed), key, Buffer.from(parsed.Signature, 'base64'))) return refused('the signature is wrong');
    const { Type: type, Token: token } = parsed;
    if (type !== 'SubscriptionConfirmation' || !token) return authentic;
    return { kind: 'authentic', onAdmitted: () => confirm(topic, confirmationUrl(topic, token)) };
  };
}

/** Whom the proxy in front has seen. Without a proxy anybody can write this, and it is no more than a share of a limit. */
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

/** Of the address in the message only the file's name is used, and only when all the rest is what we would have made of the topic. */
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
