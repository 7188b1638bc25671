/** Every command that the pages name: ours have only options that there are, and run; the others are known, with the reason why they do not run here. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { commands as entries } from '../../src/cli/index.ts';
import { UsageError } from '../../src/service/command-line/command.ts';
import { policiesPath } from '../service/resources/install-crd.ts';
import { runCommand } from '../cli/run-command.ts';
import { startWorld, type World } from '../end-to-end/world.ts';
import { resend } from '../harness/resend.ts';
import type { Service } from '../harness/service.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { GiveUp, waitFor } from '../harness/wait-for.ts';
import { codeSpansOf, fencesOf, pages, root } from './markdown.ts';
import { readCommand, shellCommandsOf, type ShellCommand } from './shell.ts';

/** Programs that the pages call, and why no test calls them here. */
const elsewhere: Readonly<Record<string, string>> = {
  aws: 'needs an account',
  az: 'needs an account',
  body: 'test/docs/guides.test.ts runs these lines',
  cat: 'has nothing to do with us',
  chmod: 'has nothing to do with us',
  cloudflared: 'needs an account',
  cosign: 'is not on every machine; test/service/verify/ has signatures that it accepts',
  crane: 'is not on every machine',
  curl: 'test/docs/guides.test.ts runs these lines',
  docker: 'needs an engine: npm run test:image',
  echo: 'a word of the shell',
  export: 'a word of the shell',
  gcloud: 'needs an account',
  git: 'has nothing to do with us',
  helm: 'test/docs/new-user.test.ts installs as the pages say; the chart has tests of its own',
  jq: 'is not on every machine',
  kind: 'needs a Docker engine',
  kubectl: 'test/docs/new-user.test.ts and tutorial.test.ts run what the first pages say; the tests speak to the API server themselves',
  mkdir: 'has nothing to do with us',
  ngrok: 'needs an account',
  npx: 'fetches a program of others',
  openssl: 'makes a random text',
  printf: 'a word of the shell',
  sudo: 'needs another machine',
  trivy: 'needs its database; test/service/vulnerabilities/ has reports as it writes them',
};

/** Commands of ours that other tests run. */
const runElsewhere: Readonly<Record<string, string>> = {
  serve: 'runs until it is stopped: every test of end-to-end/',
  'get --watch': 'runs until it is stopped: test/cli/get.test.ts',
  'events --follow': 'as well: test/cli/follow-events.test.ts',
  'crd apply': 'needs a conversion webhook: test/conversion/commands/crd-apply.test.ts, test/end-to-end/upgrade.test.ts',
  announce: 'needs a receiver: test/docs/pipelines.test.ts, test/end-to-end/deliveries.test.ts',
  test: 'test/docs/test-policies.test.ts runs these lines',
  backtest: 'as well',
  run: 'needs a registry with the images: test/cli/run/',
  rebase: 'needs a registry with the images: test/bases/commands/rebase.test.ts',
  'crd migrate': 'needs one as well: test/conversion/commands/crd-migrate.test.ts',
  'notify test': 'sends messages to chats: test/notify/commands/notify.test.ts',
};

interface Named extends ShellCommand {
  readonly path: string;
}

const scripts = pages.flatMap(({ path, text }) =>
  fencesOf(text)
    .filter(({ language, body }) => language === 'sh' || (language === '' && isScript(body)))
    .flatMap(({ body }) => shellCommandsOf(body).map((command): Named => ({ path, ...command }))),
);
const spans = pages.flatMap(({ path, text }) =>
  codeSpansOf(text)
    .filter((code) => /^(?:image-watcher|npx image-watcher|npm|kubectl (?:\S+ )*exec) /.test(code))
    .map((code): Named => ({ path, ...readCommand(code.replaceAll(/[[\]]/g, '')) })),
);
const named = [...scripts, ...spans];
const ours = named.flatMap(({ words, ...rest }) => {
  const [program, second] = words;
  if (program === 'image-watcher') return [{ ...rest, words: words.slice(1) }];
  if (program === 'npx' && second === 'image-watcher') return [{ ...rest, words: words.slice(2) }];
  // In a pod, where the token of its account is; test/image/image.ts runs them there.
  const inPod = words.indexOf('dist/main.js');
  return program === 'kubectl' && words.includes('exec') ? [{ ...rest, words: words.slice(inPod + 1) }] : [];
});

/** The program, or the variable that is set (`body='…'`). */
function programOf([first = '']: readonly string[]): string {
  return first.split('=')[0] ?? '';
}

/** A block without a language is a script when each line of it begins with a program: the others are drawings and messages. */
function isScript(body: string): boolean {
  const first = shellCommandsOf(body).map(({ words }) => programOf(words));
  return (
    first.length > 0 &&
    first.every((word) => word === 'image-watcher' || word === 'node' || word === 'npm' || word === 'npx' || Object.hasOwn(elsewhere, word))
  );
}

test('the pages contain commands, and each begins with a known program', () => {
  assert.ok(scripts.length > 25 && ours.length > 40, `${scripts.length}, ${ours.length}`);
  const known = ['image-watcher', 'node', 'npm', 'npx', ...Object.keys(elsewhere)];
  assert.deepEqual(
    scripts.filter(({ words }) => !known.includes(programOf(words))),
    [],
  );
});

test('a command in a pod is started by its path: the image has no other name for it', () => {
  const inPods = named.filter(({ words }) => words[0] === 'kubectl' && words.includes('exec'));
  assert.ok(inPods.length > 3, `${inPods.length}`);
  assert.deepEqual(
    inPods.filter(({ words }) => !/ -- node dist\/main\.js /.test(words.join(' '))),
    [],
  );
});

test('no page starts the sources with node itself, which may be too old, instead of npx', () => {
  assert.ok(ours.some(({ words }) => words[0] === 'serve'));
  assert.deepEqual(
    scripts.filter(({ words }) => words[0] === 'node' && words[1]?.endsWith('.ts')),
    [],
  );
});

test('every npm script in the pages exists', () => {
  const { scripts: existing } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  for (const { words, path } of named.filter((command) => command.words[0] === 'npm')) {
    const [, verb = '', script = ''] = words;
    assert.ok(
      ['ci', 'install', 'test', 'pack', 'version'].includes(verb) || (verb === 'run' && Object.hasOwn(existing, script)),
      `${path}: ${words.join(' ')}`,
    );
  }
});

const ourCommands = await Promise.all(entries.map(({ load }) => load()));
for (const words of new Set(ours.map((command) => command.words.join(' ')))) {
  test(`the command "image-watcher ${words}" and its options exist`, () => {
    const [name = '', second = '', ...rest] = words.split(' ');
    const group = ourCommands.find((candidate) => candidate.name === name);
    assert.ok(group, `there is no command "${name}"`);
    const command = group.commands?.find((candidate) => candidate.name === `${name} ${second}`) ?? group;
    for (const option of [second, ...rest].filter((word) => word.startsWith('-') && word !== '--help' && word !== '-')) {
      assert.match(command.help(), new RegExp(`${option.split('=')[0]}\\b`), `"${command.name}" has no option ${option}`);
    }
  });
}

describe('the commands in the pages', () => {
  let world: World;
  let service: Service;
  let eventId = '';
  const started = process.cwd();
  const kubeconfig = process.env['KUBECONFIG'];

  before(async () => {
    world = await startWorld();
    for (const name of ['shop', 'platform']) await world.cluster.request('POST', '/api/v1/namespaces', { metadata: { name } });
    const base = parse(readFileSync(join(root, 'crd/samples/base-java.yaml'), 'utf8')) as object;
    await world.cluster.request('POST', '/apis/operator.technomad.dev/v1/namespaces/platform/baseimagepolicies', base);
    const image = `${world.quiet.host}/shop/web`;
    service = await world.start({ config: { receivers: [{ name: 'ci', provider: 'generic', unauthenticated: true }] } });
    const spec = { image, select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] };
    const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name: 'web' }, spec };
    await world.cluster.request('POST', policiesPath('shop', 'v1'), policy);
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'app', image: 'ghcr.io/shop/api:1.4.2' }] } };
    await world.cluster.request('POST', '/apis/apps/v1/namespaces/shop/deployments', {
      metadata: { name: 'api', annotations: { 'keel.sh/policy': 'minor' } },
      spec: { selector: { matchLabels: { app: 'a' } }, template },
    });
    const body = JSON.stringify({ image: `${image}:1.0.0` });
    const push = await resend(() => fetch(`${service.publicUrl}/webhooks/ci`, { method: 'POST', body }));
    const { accepted } = (await push.json()) as { accepted: { id: string }[] };
    eventId = accepted[0]?.id ?? assert.fail('nothing was accepted');
    process.env['KUBECONFIG'] = world.cluster.kubeconfigPath;
    process.chdir(makeFolder(policy, world));
    await waitFor(
      'the event to be there',
      async () => (await runCommand('events', [eventId, '--server', service.operationsUrl, '--insecure'])).code === 0,
    );
  });
  after(async () => {
    process.chdir(started);
    if (kubeconfig === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = kubeconfig;
    await world.stop();
  });

  const isRunElsewhere = ({ words }: ShellCommand) =>
    Object.keys(runElsewhere).some((name) => `${words.join(' ')} `.startsWith(`${name} `)) && !words.includes('--help');
  // In the order of the pages, and each once: some write what others read.
  const unique = new Map(ours.filter((command) => !isRunElsewhere(command)).map((command) => [JSON.stringify(command.words), command]));

  for (const { words, outputFile, path } of unique.values()) {
    test(`end as ${path} says for "image-watcher ${words.join(' ')}"`, async () => {
      const placeholders: Readonly<Record<string, string>> = {
        'NS/NAME': 'shop/web',
        'NAMESPACE/NAME': 'shop/web',
        ID: eventId,
        TAG: '1.0.0',
        '/var/run/secrets/kubernetes.io/serviceaccount/token': 'token',
        '/etc/image-watcher': 'config.yaml',
      };
      const [name = '', ...args] = words.map((word) => placeholders[word] ?? word);
      if (args.includes('--help')) return;
      if (args.length === 0) args.push(...(usualArguments(eventId)[name] ?? []));
      if (args.join() === '--cluster') args.push('-A');
      if (['events', 'replay', 'doctor', 'history'].includes(name) && args[0] !== 'verify')
        args.push('--server', service.operationsUrl, '--insecure');
      // Some ask a policy that an earlier command has suspended, and no answer is one, too.
      if (name === 'rollback' || name === 'check') args.push('--timeout', '5s');
      const run = () =>
        runCommand(name, args).catch((error: unknown) => {
          throw error instanceof UsageError ? new GiveUp(`wrong usage: ${error.message}`, { cause: error }) : error;
        });
      // A service whose Redis is late says so.
      const { code, out, err } = await waitFor('an answer other than 503', async () => {
        const ended = await run();
        return !/answered 503/.test(ended.err) && ended;
      });
      if (outputFile !== undefined) writeFileSync(outputFile, out);
      // The answer may be no: nothing waits for approval, no change can be rolled back. Wrong usage it may not be.
      assert.ok(code === 0 || code === 1, err);
      // What runs in this cluster is no subject of the pages.
      if (words.includes('--cluster')) return;
      if (['lint', 'simulate', 'events', 'replay', 'import', 'suspend', 'resume'].includes(name) || words[0] === 'crd')
        assert.equal(code, 0, err);
    });
  }
});

/** What the running text leaves out where it only names a command. */
function usualArguments(eventId: string): Readonly<Record<string, readonly string[]>> {
  const ofPolicies = ['explain', 'check', 'approve', 'reject', 'promote', 'hold', 'rollback', 'suspend', 'resume', 'release'];
  return {
    ...Object.fromEntries(ofPolicies.map((name) => [name, ['shop/web']])),
    replay: [eventId],
    lint: ['policy.yaml'],
    import: ['keel'],
    simulate: ['--provider', 'harbor', '--file', 'body.json'],
    'generate-password': ['--secret', 'shop/generated'],
  };
}

/** The files that the commands of the pages read. */
function makeFolder(policy: object, { cluster }: World): string {
  const folder = tempFolder('docs');
  const body = 'test/fixtures/payloads/harbor/harbor-push-default-tag.json';
  copyFileSync(join(root, body), join(folder, 'body.json'));
  mkdirSync(join(folder, 'policies'));
  for (const file of ['policy.yaml', 'policies.yaml', 'policies/web.yaml']) writeFileSync(join(folder, file), JSON.stringify(policy));
  mkdirSync(join(folder, 'clusters'));
  copyFileSync(join(root, 'test/cli/import/flux/samples/guide.yaml'), join(folder, 'clusters/podinfo.yaml'));
  writeFileSync(join(folder, 'token'), cluster.token);
  mkdirSync(join(folder, 'record'));
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ record: { folder: join(folder, 'record') } }));
  return folder;
}
