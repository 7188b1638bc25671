// What a fresh checkout needs before anything else can run: `node test/harness/bootstrap.mjs COMMAND …` installs the locked packages if they are missing
// or others than locked, then runs the command with the project's own Node and tools first on the PATH. Plain JavaScript, because Node 20 must run it.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const modules = join(root, 'node_modules');
const tools = join(modules, '.bin');
const oldest = [24, 12];

if (!hasLockedPackages()) await installPackages();
const node = await projectNode();
const [command, ...args] = process.argv.slice(2);
if (!command) fail('usage: node test/harness/bootstrap.mjs SCRIPT.ts|COMMAND [ARGUMENT…]');
const argv = /\.(ts|mjs|js)$/.test(command) ? [node, command, ...args] : [command, ...args];
const env = { ...process.env, PATH: [dirname(node), tools, process.env.PATH].join(delimiter) };
process.exitCode = await run(argv[0], argv.slice(1), { env });

// npm notes in node_modules what it installed there; packages for other systems are missing from it.
function hasLockedPackages() {
  try {
    const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    const installed = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages;
    return Object.entries(locked).every(([path, wanted]) => {
      if (path === '') return true;
      const present = installed[path];
      if (!present) return Boolean(wanted.optional || wanted.devOptional);
      return present.version === wanted.version && existsSync(join(root, path, 'package.json'));
    });
  } catch {
    return false;
  }
}

async function installPackages() {
  // A lock file written where the packages of some other system could not be had lacks them; npm ci refuses that, npm install keeps to the rest of it.
  const incomplete = { pattern: /npm ci.*in sync/, meaning: 'package-lock.json is not complete, so npm install takes over' };
  if (await attempt('npm ci', (output) => run('npm', ['ci'], { cwd: root }, output), incomplete)) return;
  const args = ['install', '--no-save'];
  if (await attempt('npm install --no-save', (output) => run('npm', args, { cwd: root }, output))) return;
  fail('the packages cannot be installed (the output of npm is above); this needs access to a package registry');
}

// npm runs no install script that it was not told to trust, and the "node" package fetches its program in one.
async function projectNode() {
  // npm links no program that was not there when it looked.
  const candidates = [join(tools, 'node'), join(modules, 'node', 'bin', 'node')];
  const found = candidates.find(isNewEnough);
  if (found) return found;
  const script = 'installArchSpecificPackage';
  const folder = join(modules, 'node');
  if (existsSync(join(folder, `${script}.js`))) {
    await attempt('fetching Node for this project', (output) => run(process.execPath, [script], { cwd: folder }, output));
  }
  const repaired = [...candidates, process.execPath].find(isNewEnough);
  return (
    repaired ??
    fail(
      `node_modules/.bin/node is missing or older than ${oldest.join('.')}; run "npm rebuild node", or use Node ${oldest.join('.')} or newer`,
    )
  );
}

function isNewEnough(node) {
  try {
    const [major, minor] = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('.')
      .map(Number);
    return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  } catch {
    return false;
  }
}

// Whether the work succeeded. Its output is shown only if it failed in another way than expected.
async function attempt(what, work, expectedFailure) {
  const started = Date.now();
  const elapsed = () => `${Math.round((Date.now() - started) / 1_000)} s`;
  say(`${what} …`);
  const timer = setInterval(() => say(`${what} … ${elapsed()}`), 10_000);
  const chunks = [];
  const code = await work(chunks);
  clearInterval(timer);
  say(`${what} ${code === 0 ? 'done' : 'failed'} after ${elapsed()}`);
  const output = Buffer.concat(chunks).toString();
  if (code === 0) return true;
  if (expectedFailure?.pattern.test(output)) say(expectedFailure.meaning);
  else process.stderr.write(output);
  return false;
}

// Resolves with the exit code. The output goes where ours goes, or into the array `output`.
function run(command, args, options, output) {
  const child = spawn(command, args, { ...options, stdio: output ? ['ignore', 'pipe', 'pipe'] : 'inherit' });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));
  // The terminal sends Ctrl-C to the child too, which ends in its own way; we wait for it.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (signal) => signal !== 'SIGINT' && child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolve) => {
    child.on('error', (error) => {
      say(`${command}: ${error.message}`);
      resolve(127);
    });
    child.on('close', (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}

function say(message) {
  process.stderr.write(`${message}\n`);
}

function fail(message) {
  say(message);
  process.exit(1);
}
