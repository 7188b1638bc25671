import closeWithGrace from 'close-with-grace';
import { loadSettings } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import { describeError } from '../core/model/errors.ts';
import { parseRoles } from '../service/compose/roles.ts';
import { openTelemetry } from '../service/telemetry/open-telemetry.ts';
import { keepStart, leanOptions, startLean } from './lean-start.ts';
import { defineCommand, UsageError } from '../service/command-line/command.ts';
import { summaries } from './summaries.ts';
import { fileOption } from '../service/command-line/usual-options.ts';

/** Kubernetes kills a process 30 s after it was asked to stop, by default. */
const stopDeadlineMs = 25_000;
/** The time to flush the last spans. */
const flushMs = 2_000;

export const serve = defineCommand({
  name: 'serve',
  summary: summaries.serve,
  about: `Runs until SIGTERM or SIGINT, then accepts no new requests and jobs, finishes or requeues those in progress, and exits.

The environment variables REDIS_URL, KUBECONFIG, LOG_LEVEL, PORT and OTEL_EXPORTER_OTLP_ENDPOINT override the configuration.

The process replaces itself once (execve), to run with the settings of Node that the container image has and that halve its memory: ${leanOptions.join(' ')}. ${keepStart}=1 keeps all as it is.`,
  options: {
    roles: {
      value: 'ROLES',
      about:
        'the roles of this process, separated by commas: receive (webhooks; needs Redis only), work (everything else), convert (policies between their versions, for the API server; needs no Redis), web (the dashboard; needs only a process with the role work). Default: all',
    },
    config: fileOption(
      'the configuration file, or a folder: its *.yaml files are merged in the order of their names (also IMAGE_WATCHER_CONFIG)',
    ),
  },
  instead: {
    '--kubeconfig': '; the variable KUBECONFIG names the kubeconfig of the service; without it, ~/.kube/config is read',
    '--context': '; the service uses the current context of the kubeconfig (kubectl config use-context NAME)',
    '--port': '; set listen.port in the configuration, or the variable PORT',
  },
  examples: [['serve --roles receive,work --config config.yaml', 'everything but the conversion of policies']],
  async run(values, _args, terminal) {
    const roles = parseRoles(values.roles);
    if (typeof roles === 'string') throw new UsageError(roles);
    const source = processSource(values.config);
    const settings = loadSettings(source);
    startLean(source.env);
    // Imported only here, so that the help and usage errors do not wait for the whole program.
    const [{ compose }, { wings }] = await Promise.all([import('../service/compose/compose.ts'), import('../wings.ts')]);
    const telemetry = await openTelemetry(settings.config.log.level, settings.traces, roles);
    const { logger, tracing } = telemetry;
    const service = await compose(settings, roles, telemetry, wings);
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
});
