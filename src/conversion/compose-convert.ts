/** The role `convert`: converts policies between their versions, for the API server. It depends on no other service. */
import { createSecureContext } from 'node:tls';
import type { ConversionClients } from './admit-reviews.ts';
import { buildConversionApp, secureContext, type ConversionApp } from './conversion-app.ts';
import { convertReview } from './convert-review.ts';
import type { ServingPair } from './certificates/serving-pair.ts';
import { settingError } from '../service/config/config-error.ts';
import { readSettingFile } from '../service/config/setting-file.ts';
import type { Settings } from '../service/config/settings.ts';
import type { Check } from '../service/telemetry/readiness.ts';
import { conversionNames, keepConversionCertificate, type CertificateSource } from './conversion-certificate.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { ConvertPart } from '../service/compose/wing.ts';
import { addressOf, closeListener, drainListener, openListener } from '../service/operations/listener.ts';

const dayMs = 86_400_000;

interface Shown extends ServingPair {
  readonly source: CertificateSource;
  readonly notAfter: Date;
}

/** Builds the role. Rejects with ConfigError if certificates need a kubeconfig and there is none, or if the authorities of its clients cannot be read. */
export async function composeConvert(foundation: Foundation): Promise<ConvertPart> {
  const { settings, logger, metrics } = foundation;
  const { bodyLimitBytes, clientCaFile, clientNames } = settings.config.conversion;
  const clients = clientCaFile === undefined ? undefined : readClients(settings, clientCaFile, clientNames);
  let app: ConversionApp | undefined;
  let shown: Shown | undefined;
  const keeper = await keepConversionCertificate(foundation, ({ certificate, key, notAfter }, source) => {
    if (certificate === shown?.certificate) return;
    app?.server.setSecureContext(secureContext({ certificate, key, clients }));
    shown = { source, certificate, key, notAfter };
    logger.info({ source, notAfter }, 'conversion certificate in use');
  });

  return {
    checks: () => [
      { name: 'conversion listener', ok: app?.server.listening === true, required: true },
      checkCertificate(shown, keeper.isOff()),
    ],
    measure() {
      metrics.conversionCertificateDays.reset();
      if (shown !== undefined) metrics.conversionCertificateDays.set({ source: shown.source }, daysUntil(shown.notAfter));
    },
    address: () => (app === undefined ? undefined : addressOf(app, 'https')),
    async start() {
      await keeper.start();
      // While it is made, the real one may have come.
      const provisional = shown ?? (await makeProvisional(settings));
      const { certificate, key } = shown ?? provisional;
      app = buildConversionApp({ certificate, key, clients, bodyLimitBytes, convertReview, logger, metrics });
      await openListener(app, settings.config.conversion, (key, message) => settingError(settings, ['conversion', key], message));
    },
    async stop() {
      await keeper.stop();
      if (app === undefined) return;
      await drainListener(app.server);
      await closeListener(app);
    },
  };
}

async function makeProvisional(settings: Settings): Promise<ServingPair> {
  const certificates = await import('./certificates/make-certificate.ts');
  return certificates.makeProvisional(conversionNames(settings), new Date());
}

function readClients(settings: Settings, file: string, names: readonly string[]): ConversionClients {
  return readSettingFile(settings, ['conversion', 'clientCaFile'], file, (ca) => {
    // Checked here, because an invalid file would fail only at the first handshake.
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it contains no certificate');
    createSecureContext({ ca });
    return { ca, names };
  });
}

/** An optional check. The process must be ready without a trusted certificate, because a starting API server needs the conversion. */
function checkCertificate(shown: Shown | undefined, isOff: boolean): Check {
  const name = 'conversion certificate';
  if (isOff) return { name, ok: true, required: false, detail: 'not needed: the CustomResourceDefinition has no conversion webhook' };
  if (shown === undefined) return { name, ok: false, required: false, detail: 'provisional: API servers do not trust it' };
  const days = daysUntil(shown.notAfter);
  return { name, ok: days > 0, required: false, detail: `from ${shown.source}, ends in ${Math.floor(days)} days` };
}

function daysUntil(time: Date): number {
  return (time.getTime() - Date.now()) / dayMs;
}
