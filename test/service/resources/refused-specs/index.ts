/** The list of all wrong specs. */
import { alongside } from './alongside.ts';
import { bounds } from './bounds.ts';
import { code } from './code.ts';
import { rules } from './rules.ts';
import { shape } from './shape.ts';
import { vulnerabilities } from './vulnerabilities.ts';
import type { RefusedSpec } from './specs.ts';

export const refusedSpecs: readonly RefusedSpec[] = [...rules, ...shape, ...bounds, ...code, ...alongside, ...vulnerabilities];
