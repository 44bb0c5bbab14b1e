import { PUBLIC_TIME_ZONE } from '$env/static/public';

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: PUBLIC_TIME_ZONE,
  timeZoneName: 'short'
});

/** Returns a `DateTime` of the API as text with the time zone of the site: "1 November 2026 at 09:00 GMT". */
export function formatTime(time: string): string {
  return FORMAT.format(new Date(time));
}
