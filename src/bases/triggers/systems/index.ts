/** The list of CI systems: a new one is a file here, a line here, a field in `bases/resource/actions.ts` and a row in the test. */
import type { CiSystemKind } from '../order.ts';
import { gitea } from './gitea.ts';
import { githubDispatch } from './github-dispatch.ts';
import { githubWorkflow } from './github-workflow.ts';
import { gitlab } from './gitlab.ts';
import { jenkins } from './jenkins.ts';
import { tekton } from './tekton.ts';
import { webhook } from './webhook.ts';

export const systems = { gitea, githubDispatch, githubWorkflow, gitlab, jenkins, tekton, webhook } as const satisfies Record<
  CiSystemKind['id'],
  CiSystemKind
>;
