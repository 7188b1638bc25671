/** A client of the API that is generated from its document, as a user generates one, and a program that uses it. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSource } from 'oazapfts';
import { runCommand } from '../harness/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const root = join(import.meta.dirname, '../..');

/** Approves what waits in a namespace, and prints what it saw. The types are those of the document, by their names. */
const program = `import * as api from './client.ts';

const [url = '', token = '', namespace = ''] = process.argv.slice(2);
api.defaults.baseUrl = url + '/api/v1';
api.defaults.headers = { authorization: 'Bearer ' + token };

function approvalOf({ namespace, name, pendingApproval }: api.PolicySummary): api.ApprovePolicyRequest {
  if (pendingApproval?.digest === undefined) throw new Error('nothing waits in ' + namespace + '/' + name);
  return { tag: pendingApproval.tag, digest: pendingApproval.digest, reason: 'asked by a program' };
}

function describe(entry: api.Activity): string {
  switch (entry.type) {
    case 'push':
      return 'push of ' + entry.push.tag;
    case 'change':
      return entry.kind;
    case 'action':
      return entry.action + ': ' + entry.why;
  }
}

const waiting = await api.listPolicies({ $namespace: namespace, state: 'ApprovalRequired' satisfies api.PolicyState });
if (waiting.status !== 200) throw new Error(waiting.data.detail);
const list: api.PolicyList = waiting.data;
const requested: string[] = [];
for (const policy of list.policies) {
  const answer = await api.approvePolicy(policy.namespace, policy.name, approvalOf(policy));
  // What is answered depends on the status.
  if (answer.status !== 202) throw new Error(answer.data.code + ': ' + answer.data.detail);
  requested.push(answer.data.requested);
}
const missing = await api.getPolicy(namespace, 'nobody');
const problem: api.Problem | undefined = missing.status === 404 ? missing.data : undefined;
const activity = await api.listActivity({ policy: namespace + '/web', $type: 'action' });
const happened = activity.status === 200 ? activity.data.activity.map(describe) : [];
console.log(JSON.stringify({ requested, problem, happened }));
`;

/** What the types refuse. */
const misuse = `import * as api from './client.ts';

// @ts-expect-error: there is no such state
export const state: api.PolicyState = 'Lost';
// @ts-expect-error: an approval names the digest
export const approval: api.ApprovePolicyRequest = { tag: '1.0.0' };
// @ts-expect-error: there is no such parameter
export const listed = () => api.listPolicies({ colour: 'red' });
// @ts-expect-error: a policy in a list has no history
export const history = (policy: api.PolicySummary) => policy.status;
`;

/** Generates the client, and checks the types of the programs. */
export async function generateClient(): Promise<{ run(...values: readonly string[]): Promise<unknown> }> {
  const folder = tempFolder('client');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const client = await generateSource(join(root, 'docs/operations/openapi.json'));
  const files = { 'package.json': '{"type": "module"}', 'client.ts': client, 'program.ts': program, 'misuse.ts': misuse };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions', '--types', 'node'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await runCommand(process.execPath, [tsc, ...options, 'program.ts', 'misuse.ts'], { cwd: folder });
  return {
    run: async (...values) => JSON.parse(await runCommand(process.execPath, ['program.ts', ...values], { cwd: folder })) as unknown,
  };
}
