/** Amazon ECR, private registries: https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html */
import type { ECRClientConfig } from '@aws-sdk/client-ecr';
import type { CredentialSource, NoCredential } from '../credential.ts';
import { createExpiringCredentials, type ExpiringCredential } from './expiring-credentials.ts';

/** `client`: settings of the SDK's client, for tests. */
export interface EcrOptions {
  client?: ECRClientConfig;
  now?: () => number;
}

/** As the credential provider of Kubernetes and Amazon's own helper have it. */
const hosts =
  /^\d{12}\.dkr[.-]ecr(?<fips>-fips)?\.(?<region>[a-z0-9-]+)\.(?:amazonaws\.(?:com(?:\.cn)?|eu)|on\.(?:aws|amazonwebservices\.com\.cn)|sc2s\.sgov\.gov|c2s\.ic\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov)$/;
/** Long enough for the SDK to look for credentials everywhere, the metadata service included. */
const deadlineMs = 5_000;
/** AWS: tokens last 12 hours. */
const defaultLifeMs = 12 * 3_600_000;

/** Where the API of a registry is: the endpoint follows from the region, and from the kind of host. */
export interface EcrEndpoint {
  readonly region: string;
  readonly useFipsEndpoint: boolean;
  readonly useDualstackEndpoint: boolean;
}

/** The endpoint for a host; undefined for what is no private registry of ECR. */
export function ecrEndpoint(host: string): EcrEndpoint | undefined {
  const { region, fips } = hosts.exec(host)?.groups ?? {};
  if (region === undefined) return undefined;
  return { region, useFipsEndpoint: fips !== undefined, useDualstackEndpoint: /\.on\.(?:aws|amazonwebservices\.com\.cn)$/.test(host) };
}

/** A token of the role that this program runs as, by the SDK's own chain of credentials; one for all registries of a region. */
export function ecrCredentials({ client = {}, now = Date.now }: EcrOptions = {}): CredentialSource {
  const tokens = createExpiringCredentials({
    deadlineMs,
    now,
    fetch: (key, signal) => fetchToken({ ...client, ...(JSON.parse(key) as EcrEndpoint) }, signal, now),
  });
  return ({ registry }) => {
    const endpoint = ecrEndpoint(registry);
    if (!endpoint) return [];
    return [{ source: `the AWS identity in ${endpoint.region}`, read: (options) => tokens(JSON.stringify(endpoint), options) }];
  };
}

async function fetchToken(
  config: ECRClientConfig,
  abortSignal: AbortSignal,
  now: () => number,
): Promise<ExpiringCredential | NoCredential> {
  // Large, and of no use to most: loaded by whoever has a registry there.
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

/** What somebody has to mend, or undefined for what may pass. */
function explainRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'CredentialsProviderError') return 'is not there: no credentials of AWS were found';
  const status = '$metadata' in error ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode : undefined;
  const mayPass = status === undefined || status >= 500 || status === 429 || /throttl|toomanyrequests/i.test(error.name);
  return mayPass ? undefined : `gets no token (${error.name}: ${error.message.slice(0, 200)}): it needs ecr:GetAuthorizationToken`;
}
