/** The rules that decide whether a new base would surprise an application. */
import { abi } from './abi.ts';
import { baseUnverified } from './base-unverified.ts';
import { distribution } from './distribution.ts';
import { entrypoint } from './entrypoint.ts';
import { environment } from './environment.ts';
import { lifecycle } from './lifecycle.ts';
import { majorVersion } from './major-version.ts';
import { onBuild } from './on-build.ts';
import { operatingSystem } from './operating-system.ts';
import { ports } from './ports.ts';
import type { Rule } from './rule.ts';
import { signature } from './signature.ts';
import { signatureAdded } from './signature-added.ts';
import { user } from './user.ts';
import { volumes } from './volumes.ts';
import { workingDirectory } from './working-directory.ts';

export const rules: readonly Rule[] = [
  user,
  entrypoint,
  lifecycle,
  environment,
  workingDirectory,
  ports,
  volumes,
  onBuild,
  operatingSystem,
  distribution,
  abi,
  majorVersion,
  signature,
  signatureAdded,
  baseUnverified,
];
