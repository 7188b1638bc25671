/** The texts of the banner about what does not answer. */
export const outagesEn = {
  cluster: {
    title: 'The API server does not answer. Policies are shown as of',
    text: 'Pushes are still accepted and kept; nothing is changed in the cluster, and approvals and other actions fail, until it answers. Nobody can sign in, and who has not been checked for ten minutes sees nothing.',
  },
  redis: {
    title: 'Redis does not answer, since',
    text: 'Policies and causes are current, and actions are accepted. Pushes, activity and their figures are missing; new pushes are refused, so that senders repeat them or a poll finds them, and nothing is changed until Redis answers.',
  },
};
