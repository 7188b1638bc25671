/** The texts of the banner about what does not answer. `works`: only while the other one answers. */
export const outagesEn = {
  cluster: {
    title: 'The API server does not answer. Policies are shown as of',
    works: 'Pushes are still accepted and kept.',
    text: 'Nothing is changed in the cluster, and approvals and other actions fail, until it answers. Nobody can sign in, and users whose rights were not confirmed within ten minutes see nothing.',
  },
  redis: {
    title: 'Redis does not answer, since',
    works: 'Policies and causes are current, and actions are accepted.',
    text: 'Pushes, activity and their figures are missing. New pushes are refused, so that senders repeat them or a poll finds them, and nothing is changed until Redis answers.',
  },
};
