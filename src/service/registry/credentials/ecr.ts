/** Credentials of private registries of Amazon ECR: https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html */
import type { ECRClientConfig } from '@aws-sdk/client-ecr';
import type { Dispatcher } from 'undici';
import type { Outbound } from '../../proxy/outbound.ts';
import type { CredentialSource, NoCredential } from '../credential.ts';
import { awsRequests } from './aws-requests.ts';
import { createExpiringCredentials, type ExpiringCredential } from './expiring-credentials.ts';

/** Options. `client`: settings of the SDK's client, for tests. `dispatcherFor`: the dispatcher for requests on behalf of a registry; default: direct. */
export interface EcrOptions {
  client?: ECRClientConfig;
  dispatcherFor?: Outbound['dispatcherFor'] | undefined;
  now?: () => number;
}

/** Matches hosts of private registries, as in the credential provider of Kubernetes and in Amazon's credential helper. */
const hosts =
  /^\d{12}\.dkr[.-]ecr(?<fips>-fips)?\.(?<region>[a-z0-9-]+)\.(?:amazonaws\.(?:com(?:\.cn)?|eu)|on\.(?:aws|amazonwebservices\.com\.cn)|sc2s\.sgov\.gov|c2s\.ic\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov)$/;
/** The timeout of the SDK. It is enough to try every source in its credential chain, the metadata service included. */
const deadlineMs = 5_000;
/** The lifetime of a token according to AWS, if the answer does not contain it. */
const defaultLifeMs = 12 * 3_600_000;

/** The API endpoint of a registry, which depends on the region and the kind of host (FIPS, dual-stack). */
export interface EcrEndpoint {
  readonly region: string;
  readonly useFipsEndpoint: boolean;
  readonly useDualstackEndpoint: boolean;
}

/** The endpoint for a registry host; undefined if it is not a private registry of ECR. */
export function ecrEndpoint(host: string): EcrEndpoint | undefined {
  const { region, fips } = hosts.exec(host)?.groups ?? {};
  if (region === undefined) return undefined;
  return { region, useFipsEndpoint: fips !== undefined, useDualstackEndpoint: /\.on\.(?:aws|amazonwebservices\.com\.cn)$/.test(host) };
}

/** Authorization tokens for the AWS identity that the SDK's credential chain finds. Registries of a region share one, unless they have their own proxies. */
export function ecrCredentials({ client = {}, dispatcherFor, now = Date.now }: EcrOptions = {}): CredentialSource {
  const opened = new Map<Dispatcher | undefined, ReturnType<typeof createExpiringCredentials>>();
  const tokensThrough = (dispatcher: Dispatcher | undefined) => {
    const through = { ...client, ...(dispatcher && { requestHandler: awsRequests(dispatcher) }) };
    const fetch = (key: string, signal: AbortSignal) => fetchToken({ ...through, ...(JSON.parse(key) as EcrEndpoint) }, signal, now);
    const tokens = opened.get(dispatcher) ?? createExpiringCredentials({ deadlineMs, now, fetch });
    opened.set(dispatcher, tokens);
    return tokens;
  };
  return ({ registry }) => {
    const endpoint = ecrEndpoint(registry);
    if (!endpoint) return [];
    return [
      {
        source: `the AWS identity in ${endpoint.region}`,
        read: (options) => tokensThrough(dispatcherFor?.(registry))(JSON.stringify(endpoint), options),
      },
    ];
  };
}

async function fetchToken(
  config: ECRClientConfig,
  abortSignal: AbortSignal,
  now: () => number,
): Promise<ExpiringCredential | NoCredential> {
  // The SDK is large, so it is loaded only when a policy uses a registry of ECR.
  const { ECRClient, GetAuthorizationTokenCommand } = await import('@aws-sdk/client-ecr');
  const client = new ECRClient({ maxAttempts: 2, ...config });
  try {
    const { authorizationData = [] } = await client.send(new GetAuthorizationTokenCommand({}), { abortSignal });
    const { authorizationToken, expiresAt } = authorizationData[0] ?? {};
    const [, username, password] = /^([^:]+):(.+)$/s.exec(Buffer.from(authorizationToken ?? '', 'base64').toString('utf8')) ?? [];
    if (username === undefined || password === undefined) return { why: 'got no authorization token' };
    return { credential: { username, password }, expiresAt: expiresAt?.getTime() ?? now() + defaultLifeMs };
  } catch (error) {
    const why = explainRefusal(error);
    if (why === undefined) throw new Error('asking ECR for an authorization token', { cause: error });
    return { why };
  } finally {
    client.destroy();
  }
}

/** A message for an error that a user must fix; undefined for a temporary error. */
function explainRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'CredentialsProviderError') return 'is not there: no credentials of AWS were found';
  const status = '$metadata' in error ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode : undefined;
  const mayPass = status === undefined || status >= 500 || status === 429 || /throttl|toomanyrequests/i.test(error.name);
  return mayPass ? undefined : `gets no token (${error.name}: ${error.message.slice(0, 200)}): it needs ecr:GetAuthorizationToken`;
}
