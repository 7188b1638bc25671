/** Signs users in with an identity provider: authorization code with PKCE, by openid-client. */
import type * as openid from 'openid-client';
import type { SignInUnderWay } from './session.ts';

/** The configuration `dashboard.oidc`. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: () => string | undefined;
  readonly scopes: readonly string[];
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  /** The function that sends requests to the provider; the global fetch by default. */
  readonly fetch?: typeof fetch;
}

/** A user as an identity provider names it. */
export interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
  /** The id token, which the API server may accept. */
  readonly token: string;
}

export interface OidcClient {
  /** The host of the provider, for the text of the button. */
  readonly name: string;
  /** Begins a sign-in: returns the address for the browser, and the data to keep until it returns. Rejects if the provider cannot be reached. */
  begin(redirectUri: string, back: string): Promise<{ readonly url: URL; readonly underWay: SignInUnderWay }>;
  /** Completes a sign-in, and returns the user. Rejects if the callback does not belong to `underWay`, or if the provider does not confirm it. */
  complete(callback: URL, underWay: SignInUnderWay): Promise<Identity>;
}

/** A client of one provider. The metadata of the provider are read at the first sign-in. */
export function createOidcClient(settings: OidcSettings): OidcClient {
  let discovered: Promise<Discovered> | undefined;
  const discover = () => {
    discovered ??= read(settings).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  };
  return {
    name: new URL(settings.issuer).host,
    async begin(redirectUri, back) {
      const { oidc, config } = await discover();
      const underWay = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier(), back };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        code_challenge: await oidc.calculatePKCECodeChallenge(underWay.verifier),
        code_challenge_method: 'S256',
        state: underWay.state,
        nonce: underWay.nonce,
      });
      return { url, underWay };
    },
    async complete(callback, { state, nonce, verifier }) {
      const { oidc, config } = await discover();
      const tokens = await oidc.authorizationCodeGrant(config, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims() ?? {};
      return { ...identify(claims, settings), token: tokens.id_token ?? '' };
    },
  };
}

/** The library, and the metadata of a provider. */
interface Discovered {
  readonly oidc: typeof openid;
  readonly config: openid.Configuration;
}

async function read({ issuer, clientId, clientSecret, fetch: send = fetch }: OidcSettings): Promise<Discovered> {
  // Imported only when somebody signs in with an identity provider.
  const oidc = await import('openid-client');
  const url = new URL(issuer);
  const secret = clientSecret();
  const auth = secret === undefined ? oidc.None() : oidc.ClientSecretBasic(secret);
  // The configuration allows http on loopback only.
  const options = {
    timeout: 10,
    [oidc.customFetch]: (to: string, request: openid.CustomFetchOptions) => send(to, request as RequestInit),
    ...(url.protocol === 'http:' && { execute: [oidc.allowInsecureRequests] }),
  };
  return { oidc, config: await oidc.discovery(url, clientId, undefined, auth, options) };
}

/** The user and the groups in claims, with their prefixes. Throws if the claims do not name the user. */
export function identify(
  claims: Readonly<Record<string, unknown>>,
  {
    usernameClaim,
    usernamePrefix,
    groupsClaim,
    groupsPrefix,
  }: Pick<OidcSettings, 'usernameClaim' | 'usernamePrefix' | 'groupsClaim' | 'groupsPrefix'>,
): Omit<Identity, 'token'> {
  const user = claims[usernameClaim];
  if (typeof user !== 'string' || user === '') throw new Error(`the identity provider sent no claim "${usernameClaim}"`);
  // An unconfirmed mail address is not accepted as a name: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#openid-connect-tokens
  const verified = claims['email_verified'];
  if (usernameClaim === 'email' && verified !== undefined && verified !== true) throw new Error('the e-mail address is not verified');
  const named = claims[groupsClaim];
  const groups = (Array.isArray(named) ? named : [named]).filter((group): group is string => typeof group === 'string' && group !== '');
  return { user: `${usernamePrefix}${user}`, groups: groups.map((group) => `${groupsPrefix}${group}`) };
}
