import closeWithGrace from 'close-with-grace';
import { loadSettings, processSource } from '../config.ts';
import { describeError } from '../model/errors.ts';
import { parseRoles } from '../roles.ts';
import { openTelemetry } from '../telemetry/open-telemetry.ts';
import { type Command, parseOptions, UsageError } from './command.ts';

const options = { config: { type: 'string' }, roles: { type: 'string' } } as const;

/** Kubernetes kills after 30 s by default. */
const stopDeadlineMs = 25_000;
/** For the last spans. */
const flushMs = 2_000;

/** `image-watcher serve`. */
export const serve: Command = {
  name: 'serve',
  summary: 'receive webhooks and update workloads',
  help: `Usage: image-watcher serve [--roles receive,work,convert] [--config FILE]

Runs until SIGTERM or SIGINT, then accepts no new requests and jobs, finishes or requeues those in progress, and exits.

  --roles   the roles of this process: receive (webhooks; needs Redis only), work (everything else), convert (policies
            between their versions, for the API server; needs no Redis). Default: all
  --config  the configuration file, or a folder: its *.yaml files are merged in the order of their names. Also
            IMAGE_WATCHER_CONFIG. REDIS_URL, KUBECONFIG, LOG_LEVEL, PORT and OTEL_EXPORTER_OTLP_ENDPOINT override it
`,
  async run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    if (positionals.length > 0) throw new UsageError(`serve takes no arguments: ${positionals.join(' ')}`);
    const roles = parseRoles(values.roles);
    if (typeof roles === 'string') throw new UsageError(roles);
    const settings = loadSettings(processSource(values.config));
    // Loaded only now: help and wrong usage should not wait for all of the program.
    const { compose } = await import('../compose.ts');
    const telemetry = await openTelemetry(settings.config.log.level, settings.traces, roles);
    const { logger, tracing } = telemetry;
    const service = compose(settings, roles, telemetry);
    try {
      await service.start();
    } catch (error) {
      terminal.err(`cannot start: ${describeError(error)}\n`);
      await service.stop(0);
      return 1;
    }
    return new Promise((resolve) => {
      closeWithGrace({ delay: stopDeadlineMs + 3_000, logger: false }, async ({ err, signal }) => {
        if (err) logger.error({ err }, 'stopping after an unexpected error');
        else logger.info({ signal }, 'stopping');
        await service.stop(stopDeadlineMs);
        await tracing?.stop(flushMs);
        logger.info({}, 'stopped');
        resolve(err ? 1 : 0);
      });
    });
  },
};
