/** The dashboard of one process: how it reaches the API, and how it identifies users. */
import { randomBytes } from 'node:crypto';
import { createVouching } from '../service/api/vouch.ts';
import type { Settings } from '../service/config/settings.ts';
import { settingError } from '../service/config/config-error.ts';
import type { ApiTransport } from './api-client.ts';
import { createOidcClient, type OidcClient } from './oidc.ts';
import type { Identification } from './sender.ts';
import { createSeal } from './session.ts';
import { connectOver, connectWithin } from './transport.ts';
import type { AddDashboard } from '../service/operations/app.ts';
import type { Foundation } from '../service/compose/foundation.ts';

/** Builds the dashboard. Throws ConfigError if the process has no API, and no address of another one is configured. */
export function composeDashboard(
  { settings, logger, outbound, turns }: Pick<Foundation, 'settings' | 'logger' | 'outbound' | 'turns'>,
  hasApi: boolean,
): AddDashboard {
  const { webhookUrl, teamLabel, publicUrl, requestsPerMinute } = settings.config.dashboard;
  const elsewhere = hasApi ? undefined : elsewhereOf(settings);
  const identification = identificationOf(settings);
  const oidc = openOidc(settings, outbound);
  return async (scope, app) => {
    // Imported only if the dashboard is served, because templates and pages need memory.
    const { addDashboard } = await import('./add-dashboard.ts');
    const transport = elsewhere ?? connectWithin(app, turns);
    await addDashboard(scope, {
      transport,
      turns,
      identification,
      linkSecret: settings.dashboardSecrets.session,
      settings: { webhookUrl, teamLabel, cluster: settings.config.cluster.name },
      oidc,
      publicUrl,
      requestsPerMinute,
      logger,
    });
  };
}

function elsewhereOf(settings: Settings): ApiTransport {
  const address = settings.config.dashboard.api;
  if (address !== undefined) return connectOver(new URL(address), fetch);
  const message = 'missing: a process with the role web and without work needs the address of one that has it';
  throw settingError(settings, ['dashboard', 'api'], message);
}

function identificationOf({ config, dashboardSecrets, proxySecret }: Settings): Identification {
  const { operations, dashboard } = config;
  const { auth, proxy } = operations;
  if (auth === 'none') return { kind: 'none' };
  if (auth === 'proxy') {
    const headers = [proxy.userHeader, proxy.groupsHeader, proxy.secretHeader].filter((header) => header !== undefined);
    return { kind: 'proxy', headers: headers.map((header) => header.toLowerCase()) };
  }
  const own = randomBytes(32).toString('base64');
  const isSecure = dashboard.publicUrl?.startsWith('https:') === true;
  return {
    kind: 'session',
    seal: createSeal(() => dashboardSecrets.session() ?? own, dashboard.sessionLifetime),
    // Another host of the domain cannot set a cookie with this prefix.
    cookie: isSecure ? '__Host-session' : 'session',
    vouching: createVouching(dashboardSecrets.session),
    ...(proxy.secret !== undefined && { proxy: { ...proxy, secret: proxySecret } }),
  };
}

function openOidc({ config, dashboardSecrets }: Settings, { fetch }: Foundation['outbound']): OidcClient | undefined {
  const { oidc } = config.dashboard;
  if (oidc === undefined || config.operations.auth !== 'kubernetes') return undefined;
  const scopes = oidc.scopes.includes('openid') ? oidc.scopes : ['openid', ...oidc.scopes];
  return createOidcClient({ ...oidc, scopes, clientSecret: dashboardSecrets.oidcClient, fetch });
}
