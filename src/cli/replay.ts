import { ApiError, apiHelp, apiOptions, callApi } from './api-client.ts';
import { type Command, parseOptions, parseOutput, UsageError } from './command.ts';

/** `image-watcher replay ID`. */
export const replay: Command = {
  name: 'replay',
  summary: 'handle a push again, as a new event',
  help: `Usage: image-watcher replay ID [--server URL] [--output text|json]

Handles a push again, as if the registry had sent it now. Requires the permission to update the policies that it matched.

${apiHelp}`,
  async run(args, terminal) {
    const { values, positionals } = parseOptions(args, apiOptions);
    const output = parseOutput(values.output);
    const [id, ...rest] = positionals;
    if (id === undefined || rest.length > 0) throw new UsageError('name the event: image-watcher events --output json shows the ids');
    try {
      const answer = await callApi<{ id: string; replayOf: string }>(values, 'POST', `/api/events/${encodeURIComponent(id)}/replay`);
      terminal.out(output === 'json' ? `${JSON.stringify(answer)}\n` : `replayed as ${answer.id}\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      terminal.err(`${error.message}\n`);
      return 1;
    }
  },
};
