/** The access token of the workload's Google service account, from the metadata server: https://cloud.google.com/artifact-registry/docs/docker/authentication#token */
import { describeError } from '../../../core/model/errors.ts';
import type { CredentialSource, NoCredential } from '../credential.ts';
import { createExpiringCredentials, type ExpiringCredential } from './expiring-credentials.ts';
import { fetchJson, type JsonAnswer } from './fetch-json.ts';

/** Options of `googleCredentials`. `metadataUrl`: the URL of the metadata server, for tests. */
export interface GoogleOptions {
  metadataUrl?: string;
  now?: () => number;
}

const hosts = /^(?:[a-z0-9-]+\.)*pkg\.dev$|^(?:[a-z0-9-]+\.)?gcr\.io$/;
const tokenPath = '/computeMetadata/v1/instance/service-accounts/default/token';
const source = "Google's metadata server";
/** The timeout of the metadata server, which runs on the same machine and answers fast. */
const deadlineMs = 1_500;
/** How long a failure is retried after the start. In a new pod, the metadata server needs a few seconds before it answers (Google's documentation). */
const startMs = 60_000;

/** The access token of the service account that this program runs as, for Artifact Registry and Container Registry. */
export function googleCredentials({
  metadataUrl = 'http://metadata.google.internal',
  now = Date.now,
}: GoogleOptions = {}): CredentialSource {
  const startedAt = now();
  const tokens = createExpiringCredentials({
    deadlineMs,
    now,
    fetch: async (_, signal) => {
      let answer: JsonAnswer;
      try {
        answer = await fetchJson(`${metadataUrl}${tokenPath}`, { signal, headers: { 'metadata-flavor': 'Google' } });
      } catch (error) {
        if (now() - startedAt < startMs && !isUnknownName(error)) throw new Error(`${source} does not answer yet`, { cause: error });
        return { why: `cannot be reached, so this is not Google Cloud (${describeError(error)})` };
      }
      return readToken(answer, now());
    },
  });
  return ({ registry }) => (hosts.test(registry) ? [{ source, read: (options) => tokens('', options) }] : []);
}

/** Whether the name of the metadata server does not resolve, which means that this is not Google Cloud. */
function isUnknownName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOTFOUND';
}

function readToken({ status, headers, body }: JsonAnswer, at: number): ExpiringCredential | NoCredential {
  if (headers['metadata-flavor'] !== 'Google') return { why: `is not there, so this is not Google Cloud (another one answered ${status})` };
  if (status >= 500 || status === 429) throw new Error(`the metadata server answered ${status}`);
  const { access_token: password, expires_in: seconds } = body;
  if (status !== 200 || typeof password !== 'string') return { why: `has no token of a service account (it answered ${status})` };
  const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : 60_000;
  return { credential: { username: 'oauth2accesstoken', password }, expiresAt: at + lifeMs };
}
