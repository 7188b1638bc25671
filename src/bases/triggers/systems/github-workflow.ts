import { inputsOf, type CiSystemKind } from '../order.ts';
import { githubHeaders, githubUrl, publicGithub } from './github.ts';

/** Sends the event workflow_dispatch of GitHub: https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event */
export const githubWorkflow: CiSystemKind = {
  id: 'githubWorkflow',
  publicUrl: publicGithub,
  build: (rebuild, { url, project, name, ref, secret }) => ({
    url: githubUrl(url, project, `actions/workflows/${encodeURIComponent(name)}/dispatches`),
    headers: githubHeaders(secret),
    body: JSON.stringify({ ref, inputs: inputsOf(rebuild) }),
  }),
};
