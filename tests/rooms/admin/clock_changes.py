"""Local times around clock changes, and what they mean in UTC: the page shows it, and the server reads them so."""

# A repeated time means its first occurrence; a skipped time is counted with the offset from before the change.
CLOCK_CHANGES = [
    ("2029-03-25T01:59", "Europe/Berlin", "25 Mar 2029, 00:59 UTC."),
    (
        "2029-03-25T02:30",
        "Europe/Berlin",
        "25 Mar 2029, 01:30 UTC. The clocks change that night: local time will be 03:30",
    ),
    ("2029-03-25T03:00", "Europe/Berlin", "25 Mar 2029, 01:00 UTC."),
    ("2029-10-28T02:30", "Europe/Berlin", "28 Oct 2029, 00:30 UTC."),
    ("2029-10-28T03:00", "Europe/Berlin", "28 Oct 2029, 02:00 UTC."),
    (
        "2029-03-11T02:30",
        "America/New_York",
        "11 Mar 2029, 07:30 UTC. The clocks change that night: local time will be 03:30",
    ),
    ("2029-11-04T01:30", "America/New_York", "4 Nov 2029, 05:30 UTC."),
    ("2029-04-01T01:45", "Australia/Lord_Howe", "31 Mar 2029, 14:45 UTC."),
    ("2029-06-30T23:59", "Asia/Kathmandu", "30 Jun 2029, 18:14 UTC."),
]
