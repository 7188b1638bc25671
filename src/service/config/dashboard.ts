/** Schema of the setting `dashboard`, and of its parts. */
import { z } from 'zod';
import { isLoopback } from './rules.ts';
import { duration, requestsPerMinute, secretReference, reportTo } from './scalars.ts';

const origin = z
  .url({ protocol: /^https?$/, hostname: /./, error: 'an address such as https://images.example.com' })
  .refine((text) => URL.parse(text)?.pathname === '/' && !/[?#@]/.test(text), 'must be an address without a path, user or query')
  .transform((text) => new URL(text).origin);
const claim = z.string().min(1).max(256);

const oidc = z
  .strictObject({
    issuer: z
      .url({ protocol: /^https?$/, hostname: /./, error: 'the issuer, such as https://accounts.example.com' })
      .describe('The issuer of the identity provider, as its metadata has it. http:// only on loopback.'),
    clientId: z
      .string()
      .min(1)
      .max(256)
      .describe('The client that is registered there, with PUBLIC_URL/sign-in/callback as its redirect URI.'),
    clientSecret: secretReference.optional().describe('The secret of the client: {env: NAME} or {file: PATH}. A public client has none.'),
    scopes: z
      .array(
        z
          .string()
          .regex(/^[\x21-\x7e]{1,128}$/, 'a scope')
          .describe('A scope.'),
      )
      .max(32)
      .default(['openid', 'profile', 'email'])
      .describe('What is asked for; `openid` is always part of it.'),
    usernameClaim: claim.default('email').describe('The claim with the name of the user, as `--oidc-username-claim` of the API server.'),
    usernamePrefix: z.string().max(256).default('').describe('What is put before the name, as `--oidc-username-prefix` of the API server.'),
    groupsClaim: claim.default('groups').describe('The claim with the groups, as `--oidc-groups-claim` of the API server.'),
    groupsPrefix: z.string().max(256).default('').describe('What is put before each group, as `--oidc-groups-prefix` of the API server.'),
  })
  .superRefine(({ issuer }, context) => {
    const url = URL.parse(issuer);
    if (url?.protocol === 'http:' && !isLoopback(url.hostname))
      reportTo(context)('issuer', 'must be https: whoever is on the way could sign in as anybody');
  })
  .describe('Sign-in at an identity provider (OpenID Connect). Without it, users sign in with a Kubernetes token.');

/** Schema of the setting `dashboard`. */
export const dashboard = z
  .strictObject({
    api: origin
      .optional()
      .describe(
        'The operations listener of a process with the role work, such as https://image-watcher-work:9090; needed in a process that has the role web without it.',
      ),
    publicUrl: origin
      .optional()
      .describe(
        'The address of the dashboard in browsers, such as https://images.example.com. With https, cookies are only sent over TLS.',
      ),
    webhookUrl: origin.optional().describe('The public address of the receivers, which the page Setup shows: https://hooks.example.com.'),
    teamLabel: z
      .string()
      .max(317)
      .regex(/^(?:[a-z0-9][a-z0-9.-]*\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/, 'the key of a label')
      .default('team')
      .describe('The label of policies that names a team, by whose values the page Policies filters.'),
    sessionSecret: secretReference
      .optional()
      .describe(
        'What sessions are encrypted with, at least 16 characters: {env: NAME} or {file: PATH}. Without it, they end when the process ends, and each replica has its own.',
      ),
    sessionLifetime: duration
      .prefault('8h')
      .refine((value) => value >= 60_000 && value <= 2_592_000_000, 'between 1m and 30d')
      .describe('When users have to sign in again at the latest.'),
    requestsPerMinute: requestsPerMinute
      .default(6_000)
      .describe(
        'The maximum number of requests per minute of one session, or from one address without a session (see operations.trustedProxies). Requests beyond it are answered 429.',
      ),
    oidc: oidc.optional(),
  })
  .describe('The dashboard, which processes with the role web serve on the operations listener.')
  .superRefine(({ oidc: provider, publicUrl }, context) => {
    if (provider !== undefined && publicUrl === undefined)
      reportTo(context)('publicUrl', 'is required with oidc: the identity provider sends users back to it');
  })
  .prefault({});
