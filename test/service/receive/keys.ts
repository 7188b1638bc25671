/** An issuer of tokens and a signer of SNS messages, made up for tests. */
// oxlint-disable-next-line import/no-unassigned-import -- the certificate library needs this polyfill to be loaded before it
import 'reflect-metadata';
import { generateKeyPairSync, sign, webcrypto } from 'node:crypto';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

export const now = new Date('2026-03-01T12:00:00.000Z');
export const audience = 'https://hooks.example.com/webhooks/gar';
export const email = 'push@project.iam.gserviceaccount.com';
const seconds = now.getTime() / 1_000;

/** What Google writes into the token of a push subscription. */
export const claims: JWTPayload = {
  iss: 'https://accounts.google.com',
  aud: audience,
  azp: '113774264463038321964',
  sub: '113774264463038321964',
  email,
  email_verified: true,
  iat: seconds - 60,
  exp: seconds + 3_540,
};

/** A key with an id, its public half as a JWKS has it, and tokens signed by it. */
export async function makeIssuer(kid = 'key-1', alg = 'RS256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return {
    jwk,
    jwks: JSON.stringify({ keys: [jwk] }),
    token: (payload: JWTPayload = claims, header: Record<string, unknown> = {}) =>
      new SignJWT(payload).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  };
}

export const topic = 'arn:aws:sns:eu-west-1:123456789012:ecr-push';
export const certificateUrl = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';

export type Message = Record<string, string>;

/** A notification as SNS sends it, without a signature. */
export const notification: Message = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: topic,
  Message: '{"detail-type":"ECR Image Action"}',
  Timestamp: '2026-03-01T11:59:45.123Z',
  SignatureVersion: '1',
  SigningCertURL: certificateUrl,
  UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
};

/** A signer with a certificate of this name. */
export async function makeSigner({ name = 'sns.amazonaws.com', days = 30, alternative = true } = {}) {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const keys = {
    privateKey: await webcrypto.subtle.importKey('pkcs8', privateKey.export({ type: 'pkcs8', format: 'der' }), algorithm, true, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', publicKey.export({ type: 'spki', format: 'der' }), algorithm, true, ['verify']),
  };
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(now.getTime() - 2 * 86_400_000),
    notAfter: new Date(now.getTime() + days * 86_400_000),
    extensions: alternative ? [new SubjectAlternativeNameExtension([{ type: 'dns', value: name }])] : [],
  });
  return {
    pem: certificate.toString('pem'),
    signed(message: Message): Message {
      const fields =
        message['Type'] === 'Notification'
          ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
          : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
      const text = fields.flatMap((field) => (message[field] === undefined ? [] : [`${field}\n${message[field]}\n`])).join('');
      const Signature = sign(message['SignatureVersion'] === '2' ? 'RSA-SHA256' : 'RSA-SHA1', Buffer.from(text), privateKey);
      return { ...message, Signature: Signature.toString('base64') };
    },
  };
}
