/** Schema of the setting `checks`: what the checks of policies (`rollout.checks`) may use. */
import { z } from 'zod';
import type { PrometheusServer } from '../../core/model/rollout-check.ts';
import { openSecret } from './secrets.ts';
import type { SettingProblem } from './schema-problems.ts';
import { allowedHost, always, name, reportTo, secretReference } from './scalars.ts';

const server = z.strictObject({
  name: name.describe('The name by which policies choose it.'),
  url: z
    .url({ protocol: /^https?$/, hostname: /./, error: 'a URL such as http://prometheus.monitoring:9090' })
    .refine((url) => !/^https?:\/\/[^/]*@/.test(url), 'must not hold a password: use token')
    .describe('The base URL of its API: http://prometheus.monitoring:9090.'),
  token: secretReference.optional().describe('The bearer token that it asks for: {env: NAME} or {file: PATH}.'),
  namespaces: z
    .array(name.describe('A namespace.'))
    .max(1_000)
    .default([])
    .describe(
      'The namespaces whose policies may ask it. If the list is empty: all, and so every author of a policy can read every number that it has.',
    ),
});

export const checks = z
  .strictObject({
    hosts: z
      .array(allowedHost.describe('A host.'))
      .max(100)
      .default([])
      .describe(
        'The hosts to which checks may send events; by default none. `*.` stands for any name before the rest; plain http must be written.',
      ),
    prometheus: z
      .array(server.describe('A server.'))
      .max(32)
      .default([])
      .describe('The servers with the API of Prometheus that checks may ask.')
      .superRefine((servers, context) => {
        servers.forEach((one, index) => {
          if (servers.findIndex((other) => other.name === one.name) < index)
            reportTo(context)([index, 'name'], `"${one.name}" is the name of another server`);
        });
      }, always),
    jobs: z
      .boolean()
      .default(false)
      .describe(
        'Whether checks may run Jobs, made from suspended CronJobs in the namespaces of policies. The chart then grants the permission.',
      ),
    analysis: z
      .boolean()
      .default(false)
      .describe(
        'Whether checks may make AnalysisRuns of Argo Rollouts, from AnalysisTemplates in the namespaces of policies. The chart then grants the permission.',
      ),
  })
  .describe('What the checks of policies may use. See [Checks](checks.md).')
  .prefault({});

/** Opens the tokens of the servers; errors are in `problems`. */
export function openServers(
  { prometheus = [] }: { readonly prometheus?: z.output<typeof checks>['prometheus'] },
  env: Readonly<Record<string, string | undefined>>,
): { readonly servers: readonly PrometheusServer[]; readonly problems: readonly SettingProblem[] } {
  const opened = prometheus.map(({ token, ...one }, index) => {
    const secret = token === undefined ? { read: () => undefined } : openSecret(token, env);
    const problem = 'problem' in secret ? secret.problem : undefined;
    const problems = problem === undefined ? [] : [{ keys: ['checks', 'prometheus', index, 'token'], message: problem }];
    return { server: { ...one, token: secret.read }, problems };
  });
  return { servers: opened.map(({ server: one }) => one), problems: opened.flatMap(({ problems }) => problems) };
}
