/**
 * Credentials of Azure Container Registry by workload identity: https://azure.github.io/azure-workload-identity and
 * https://github.com/Azure/acr/blob/main/docs/AAD-OAuth.md
 */
import { readFile } from 'node:fs/promises';
import type { Dispatcher } from 'undici';
import type { Outbound } from '../../proxy/outbound.ts';
import type { CredentialSource, NoCredential } from '../credential.ts';
import { createExpiringCredentials, type ExpiringCredential } from './expiring-credentials.ts';
import { fetchJson, type JsonAnswer } from './fetch-json.ts';

/** The settings that the webhook of Azure workload identity writes into the environment of a pod. */
export interface AzureIdentity {
  readonly tokenFile: string;
  readonly tenantId: string;
  readonly clientId: string;
  /** The URL of Microsoft Entra: `https://login.microsoftonline.com/` */
  readonly authorityHost: string;
}

/** Options. `originOf`: the URL of a registry by its host, for tests. `dispatcherFor`: the dispatcher for requests on behalf of a registry; default: direct. */
export interface AzureOptions {
  identity: AzureIdentity | undefined;
  originOf?: (registry: string) => string;
  dispatcherFor?: Outbound['dispatcherFor'] | undefined;
  now?: () => number;
}

const hosts = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.azurecr\.(?:io|cn|us|de)$/;
const audience = 'https://containerregistry.azure.net/.default';
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** The user name that Azure defines for logins with a token. */
const username = '00000000-0000-0000-0000-000000000000';
const source = 'the Azure workload identity';
const deadlineMs = 5_000;

/** Exchanges the pod's federated token for a token of Microsoft Entra, and this token for a refresh token of the registry. */
export function azureCredentials({
  identity,
  originOf = (host) => `https://${host}`,
  dispatcherFor,
  now = Date.now,
}: AzureOptions): CredentialSource {
  const fetch = async (registry: string, signal: AbortSignal): Promise<ExpiringCredential | NoCredential> => {
    if (!identity) return { why: 'is not there: AZURE_FEDERATED_TOKEN_FILE, AZURE_TENANT_ID and AZURE_CLIENT_ID are not set' };
    const dispatcher = dispatcherFor?.(registry);
    const accessToken = await login(identity, signal, dispatcher);
    if (typeof accessToken !== 'string') return accessToken;
    const form = { grant_type: 'access_token', service: registry, tenant: identity.tenantId, access_token: accessToken };
    const exchanged = await fetchJson(`${originOf(registry)}/oauth2/exchange`, { signal, form, dispatcher });
    const { refresh_token: identityToken } = exchanged.body;
    if (typeof identityToken !== 'string') return refusal(exchanged, `is not accepted by ${registry}`, 'it needs the role AcrPull');
    return { credential: { username, password: identityToken, identityToken }, expiresAt: expiryOf(identityToken) ?? now() + 3_600_000 };
  };
  const tokens = createExpiringCredentials({ fetch, deadlineMs, now });
  return ({ registry }) => (hosts.test(registry) ? [{ source, read: (options) => tokens(registry, options) }] : []);
}

async function login(
  { tokenFile, tenantId, clientId, authorityHost }: AzureIdentity,
  signal: AbortSignal,
  dispatcher: Dispatcher | undefined,
): Promise<string | NoCredential> {
  const assertion = (await readFile(tokenFile, 'utf8')).trim();
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    scope: audience,
    client_assertion_type: assertionType,
    client_assertion: assertion,
  };
  const answer = await fetchJson(`${authorityHost.replace(/\/+$/, '')}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`, {
    signal,
    form,
    dispatcher,
  });
  const { access_token: accessToken } = answer.body;
  return typeof accessToken === 'string' ? accessToken : refusal(answer, 'gets no token', 'check its federated credential');
}

/** Why an answer contains no token; throws if a retry may get one. */
function refusal({ status, body }: JsonAnswer, what: string, remedy: string): NoCredential {
  if (status >= 500 || status === 429 || status === 408) throw new Error(`${source} ${what}: the answer is ${status}`);
  const { error_description: description, error } = body;
  const said = [description, error].find((text) => typeof text === 'string');
  const [line = ''] = typeof said === 'string' ? said.split(/[\r\n]/) : [];
  return { why: `${what} (${status}${line === '' ? '' : `: ${line.slice(0, 200)}`}): ${remedy}` };
}

/** The `exp` claim of a JSON web token, in ms since 1970; undefined if it cannot be read. */
function expiryOf(token: string): number | undefined {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  } catch {
    // An unexpected format is no error, because the token is opaque to clients.
    return undefined;
  }
}
