import { inputsOf, type CiSystemKind } from '../order.ts';

/** Runs a workflow of Gitea or Forgejo Actions: POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches (Gitea 1.23, Forgejo 7). */
export const gitea: CiSystemKind = {
  id: 'gitea',
  build(rebuild, { url, project, name, ref, secret }) {
    const repository = project.split('/').map(encodeURIComponent).join('/');
    return {
      url: new URL(`${url}/api/v1/repos/${repository}/actions/workflows/${encodeURIComponent(name)}/dispatches`),
      headers: { authorization: `token ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ref, inputs: inputsOf(rebuild) }),
    };
  },
};
