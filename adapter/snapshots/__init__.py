"""What the values are, how fresh, asked once however many wait.

In go a query and how long the caller will wait, out come a snapshot and its age; from
that one value per object, and why others have none. It never knows which backend answers.
"""
